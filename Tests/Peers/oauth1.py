#!/usr/bin/env python3
"""Starts an OAuth 1.0a server (RFC 5849) whose verifier is oauthlib's.

    oauth1.py

What is checked is oauthlib's: base strings, signatures, times, formats. What is kept is here:
clients, tokens, and the nonces of each. Beside the three steps there are xAuth and the two steps of
Reverse Auth, whose requests are verified by the same code.

The page for the person is a form that wants name and password. With the callback `oob` it shows a
number. `/revoke` ends the token that signed; `/things` is protected.
"""

import html
import http.server
import json
import re
import secrets
import threading
import urllib.parse

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from oauthlib import oauth1
from oauthlib.oauth1.rfc5849 import Client

import peer

USER = {"name": "ann", "password": "ann's long password", "id": "7001"}
METHODS = ["HMAC-SHA1", "HMAC-SHA256", "RSA-SHA1", "PLAINTEXT"]


def key_pair():
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private.decode(), public.decode()


class Store(oauth1.RequestValidator):
    """What oauthlib asks for. One lock for all: correct rather than fast."""

    enforce_ssl = False
    client_key_length = request_token_length = access_token_length = (4, 64)
    # A PIN is short.
    verifier_length = (4, 64)
    nonce_length = (8, 64)
    timestamp_lifetime = 300
    allowed_signature_methods = METHODS
    dummy_client = dummy_request_token = dummy_access_token = "dummy-of-nobody"
    realms = []

    def __init__(self):
        super().__init__()
        self.lock = threading.RLock()
        self.clients = {}
        self.request_tokens = {}
        self.access_tokens = {}
        self.nonces = set()
        self.log = peer.Log()

    @property
    def safe_characters(self):
        # A nonce may be any text without white space; the vault's own are of base64url.
        return super().safe_characters | set("-_")

    # What is there.
    def validate_client_key(self, client_key, request):
        return client_key in self.clients

    def get_client_secret(self, client_key, request):
        return self.clients.get(client_key, {"secret": "dummy"})["secret"]

    def get_rsa_key(self, client_key, request):
        return self.clients.get(client_key, {}).get("public_key") or self.clients[None]["public_key"]

    def validate_request_token(self, client_key, token, request):
        return self.request_tokens.get(token, {}).get("client") == client_key

    def get_request_token_secret(self, client_key, token, request):
        return self.request_tokens.get(token, {"secret": "dummy"})["secret"]

    def validate_access_token(self, client_key, token, request):
        return self.access_tokens.get(token, {}).get("client") == client_key

    def get_access_token_secret(self, client_key, token, request):
        return self.access_tokens.get(token, {"secret": "dummy"})["secret"]

    def get_redirect_uri(self, token, request):
        return self.request_tokens[token]["callback"]

    def verify_request_token(self, token, request):
        return token in self.request_tokens

    def validate_verifier(self, client_key, token, verifier, request):
        kept = self.request_tokens.get(token, {}).get("verifier")
        return kept is not None and secrets.compare_digest(kept, verifier)

    def validate_redirect_uri(self, client_key, redirect_uri, request):
        return redirect_uri == "oob" or redirect_uri.startswith("http://127.0.0.1:")

    def validate_timestamp_and_nonce(
        self, client_key, timestamp, nonce, request, request_token=None, access_token=None
    ):
        use = (client_key, request_token, access_token, timestamp, nonce)
        with self.lock:
            if use in self.nonces:
                return False
            self.nonces.add(use)
            return True

    # Realms are not used.
    def get_default_realms(self, client_key, request):
        return []

    def get_realms(self, token, request):
        return []

    def validate_requested_realms(self, client_key, realms, request):
        return True

    def validate_realms(self, client_key, token, request, uri=None, realms=None):
        return True

    def verify_realms(self, token, realms, request):
        return True

    # What changes.
    def save_request_token(self, token, request):
        with self.lock:
            self.request_tokens[token["oauth_token"]] = {
                "secret": token["oauth_token_secret"],
                "client": request.client_key,
                "callback": request.redirect_uri,
            }

    def save_verifier(self, token, verifier, request):
        with self.lock:
            self.request_tokens[token]["verifier"] = verifier["oauth_verifier"]

    def save_access_token(self, token, request):
        self.keep(token["oauth_token"], token["oauth_token_secret"], request.client_key)

    def invalidate_request_token(self, client_key, request_token, request):
        with self.lock:
            del self.request_tokens[request_token]

    def keep(self, token, secret, client):
        with self.lock:
            self.access_tokens[token] = {"secret": secret, "client": client}


class Server(oauth1.WebApplicationServer):
    """oauthlib's endpoints; a verifier that is typed by hand is a number."""

    def create_verifier(self, request, credentials):
        token = request.resource_owner_key
        if self.request_validator.get_redirect_uri(token, request) != "oob":
            return super().create_verifier(request, credentials)
        verifier = {"oauth_token": token, "oauth_verifier": f"{secrets.randbelow(10**7):07}"}
        self.request_validator.save_verifier(token, verifier, request)
        return verifier


class Pages:
    """One function for each address; each gets the request and returns status, headers, body."""

    FORM = "application/x-www-form-urlencoded"

    def __init__(self, store, address):
        self.store = store
        self.address = address
        self.server = Server(store)
        self.signature = oauth1.SignatureOnlyEndpoint(store)
        self.routes = {
            "/request_token": self.request_token,
            "/authorize": self.authorize,
            "/access_token": self.access_token,
            "/things": self.things,
            "/me": self.me,
            "/revoke": self.revoke,
        }

    def request_token(self, request):
        form = dict(urllib.parse.parse_qsl(request.body))
        if form.get("x_auth_mode") == "reverse_auth":
            return self.reverse_authorization(request)
        headers, body, status = self.server.create_request_token_response(
            request.uri, request.method, request.body, request.headers
        )
        return status, headers, body

    def access_token(self, request):
        form = dict(urllib.parse.parse_qsl(request.body))
        if form.get("x_auth_mode") == "client_auth":
            return self.x_auth(request, form)
        if "x_reverse_auth_target" in form:
            return self.reverse_token(request, form)
        headers, body, status = self.server.create_access_token_response(
            request.uri,
            request.method,
            request.body,
            request.headers,
            credentials={"user_id": USER["id"], "screen_name": USER["name"]},
        )
        return status, headers, body

    def authorize(self, request):
        fields = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(request.uri).query))
        fields |= dict(urllib.parse.parse_qsl(request.body))
        token = fields.get("oauth_token", "")
        kept = self.store.request_tokens.get(token)
        if kept is None:
            return self.page(403, "<p>There is no such request.</p>")
        if request.method == "GET":
            client = html.escape(self.store.clients[kept["client"]]["name"])
            return self.page(
                200,
                f'<p>{client} wants to act for you.</p><form method="post">'
                f'<input type="hidden" name="oauth_token" value="{html.escape(token)}">'
                '<input name="username"><input type="password" name="password">'
                '<button type="submit" name="allow" value="yes">Allow</button></form>'
                '<form method="post"><button name="deny" value="yes" type="submit">Deny</button>'
                f'<input type="hidden" name="oauth_token" value="{html.escape(token)}"></form>',
            )
        if fields.get("deny"):
            callback = kept["callback"]
            del self.store.request_tokens[token]
            if callback == "oob":
                return self.page(200, "<p>You said no.</p>")
            mark = "&" if "?" in callback else "?"
            return 302, {"Location": f"{callback}{mark}denied={token}"}, ""
        if (fields.get("username"), fields.get("password")) != (USER["name"], USER["password"]):
            return self.page(403, "<p>Wrong name or password.</p>")
        # It is the address of the page that names the token for oauthlib.
        uri = f"{self.address}/authorize?{urllib.parse.urlencode({'oauth_token': token})}"
        headers, body, status = self.server.create_authorization_response(uri, "GET")
        if status == 200:
            number = dict(urllib.parse.parse_qsl(body))["oauth_verifier"]
            return self.page(200, f'<p>Your number is <code id="pin">{number}</code>.</p>')
        return status, headers, body or ""

    def verified(self, request):
        """The request, where a client signed it, with or without a token; else nil."""
        valid, verified = self.signature.validate_request(
            request.uri, request.method, request.body, request.headers
        )
        if not valid:
            return None
        token = verified.resource_owner_key
        known = token is None or self.store.validate_access_token(
            verified.client_key, token, verified
        )
        return verified if known else None

    def issue(self, client, **further):
        token, secret = secrets.token_hex(16), secrets.token_hex(16)
        self.store.keep(token, secret, client)
        body = {
            "oauth_token": token,
            "oauth_token_secret": secret,
            "user_id": USER["id"],
            "screen_name": USER["name"],
        }
        return 200, {"Content-Type": self.FORM}, urllib.parse.urlencode(body | further)

    def x_auth(self, request, form):
        verified = self.verified(request)
        given = (form.get("x_auth_username"), form.get("x_auth_password"))
        if verified is None or verified.resource_owner_key or given != (
            USER["name"],
            USER["password"],
        ):
            return 401, {}, ""
        return self.issue(verified.client_key, x_auth_expires="0")

    def reverse_authorization(self, request):
        """First step: the text of a header, signed as the client's, that is good once."""
        verified = self.verified(request)
        if verified is None or verified.resource_owner_key:
            return 401, {}, ""
        client = self.store.clients[verified.client_key]
        signer = Client(verified.client_key, client["secret"])
        _, headers, _ = signer.sign(self.address + "/access_token", "POST")
        text = headers["Authorization"]
        with self.store.lock:
            client.setdefault("authorizations", set()).add(text)
        return 200, {"Content-Type": "text/plain"}, text

    def reverse_token(self, request, form):
        """Second step: with the person's token, for the other client; byte for byte, and once."""
        verified = self.verified(request)
        target = self.store.clients.get(form.get("x_reverse_auth_target"))
        if verified is None or not verified.resource_owner_key or target is None:
            return 401, {}, ""
        with self.store.lock:
            texts = target.get("authorizations", set())
            if form.get("x_reverse_auth_parameters") not in texts:
                return 401, {}, ""
            texts.remove(form["x_reverse_auth_parameters"])
        return self.issue(form["x_reverse_auth_target"])

    def protected(self, request):
        valid, verified = self.server.validate_protected_resource_request(
            request.uri, request.method, request.body, request.headers
        )
        return verified if valid else None

    def refusal(self):
        # Twitter's shape.
        body = {"errors": [{"code": 89, "message": "Invalid or expired token."}]}
        headers = {"Content-Type": "application/json", "WWW-Authenticate": 'OAuth realm="peer"'}
        return 401, headers, json.dumps(body)

    def things(self, request):
        verified = self.protected(request)
        if verified is None:
            return self.refusal()
        fields = urllib.parse.parse_qsl(request.body, keep_blank_values=True)
        told = {"method": request.method, "signed_with": verified.signature_method}
        return 200, {"Content-Type": "application/json"}, json.dumps(told | {"form": fields})

    def me(self, request):
        if self.protected(request) is None:
            return self.refusal()
        told = {"id_str": USER["id"], "screen_name": USER["name"]}
        return 200, {"Content-Type": "application/json"}, json.dumps(told)

    def revoke(self, request):
        verified = self.protected(request)
        if verified is None:
            return self.refusal()
        with self.store.lock:
            self.store.access_tokens.pop(verified.resource_owner_key, None)
        return 200, {"Content-Type": "application/json"}, "{}"

    def page(self, status, text):
        body = "<!doctype html><title>Peer</title>" + text
        return status, {"Content-Type": "text/html; charset=utf-8"}, body


class Request:
    def __init__(self, method, uri, headers, body):
        self.method, self.uri, self.headers, self.body = method, uri, headers, body


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pages = None

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode(errors="replace")
        uri = self.pages.address + self.path
        path = urllib.parse.urlsplit(self.path).path
        request = Request(self.command, uri, dict(self.headers), body)
        route = self.pages.routes.get(path, lambda _: (404, {}, ""))
        status, headers, text = route(request)
        sent = self.headers.get("Authorization", "")
        method = re.search(r'oauth_signature_method="([^"]*)"', sent)
        self.pages.store.log.add(
            path=path,
            method=self.command,
            status=status,
            signed_with=method and urllib.parse.unquote(method.group(1)),
        )
        data = (text or "").encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def log_message(self, *_):
        pass


def main():
    store = Store()
    private, public = key_pair()
    clients = [
        {"client_id": "first-client", "client_secret": "a secret & more = odd"},
        {"client_id": "second-client", "client_secret": "another secret"},
    ]
    for client in clients:
        store.clients[client["client_id"]] = {
            "secret": client["client_secret"],
            "public_key": public,
            "name": f"The {client['client_id']}",
        }
    # For a client that is not there, so that its check takes as long.
    store.clients[None] = {"secret": "dummy", "public_key": key_pair()[1], "name": ""}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    address = f"http://127.0.0.1:{server.server_port}"
    Handler.pages = Pages(store, address)
    peer.in_background(server.serve_forever)

    def end_everything():
        with store.lock:
            ended = len(store.access_tokens)
            store.access_tokens.clear()
        return {"ended": ended}

    peer.serve(
        {
            "peer": "oauthlib",
            "address": address,
            "servers": {
                "plain": {
                    "request_token": address + "/request_token",
                    "authorize": address + "/authorize",
                    "token": address + "/access_token",
                    "reverse_auth": address + "/access_token",
                    "revoke": address + "/revoke",
                    "userinfo": address + "/me",
                    "resource": address + "/things",
                }
            },
            "clients": clients,
            "private_key": private,
            "users": [USER],
            "methods": METHODS,
        },
        {
            "log": store.log.entries,
            "tokens": lambda: sorted(store.access_tokens),
            "end_everything": end_everything,
        },
    )


if __name__ == "__main__":
    main()
