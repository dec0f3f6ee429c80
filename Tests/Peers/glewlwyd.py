#!/usr/bin/env python3
"""Starts glewlwyd, an OAuth 2.0 and OpenID Connect server in C (Debian package `glewlwyd`).

    glewlwyd.py [--redirect URI]… [--token-seconds N] [--poll-seconds N]

It compares redirect addresses letter by letter, ports too: so they are given here, and `redirects`
of the line that it prints names them. Without --redirect it finds a free port for one.

Two servers stand in the one process, each with the same clients and user:

- `plain`: bearer tokens, refresh tokens that work once and whose whole family is ended when one is
  used twice, device grant, revocation, introspection, and pushed
  requests for whoever wants them;
- `bound`: the same with DPoP, where a proof needs a nonce of the server.
"""

import argparse
import json
import os
import shutil
import sqlite3
import urllib.error
import urllib.parse
import urllib.request

import peer

USER = {"name": "ann", "password": "ann's long password"}
CONFIDENTIAL = {"client_id": "confidential", "client_secret": "a client's secret, 1: long & odd"}
PUBLIC = {"client_id": "public"}
SCOPES = ["read", "write"]
PAGES = "/usr/share/glewlwyd/webapp/"
SCHEMA = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"
MODULES = "/usr/lib/glewlwyd/"


def configuration(place, port):
    """The settings file."""
    types = {
        ".html": "text/html",
        ".css": "text/css",
        ".js": "application/javascript",
        ".json": "application/json",
        ".png": "image/png",
        ".woff2": "font/woff2",
    }
    settings = {
        "port": port,
        "bind_address": "127.0.0.1",
        "external_url": f"http://127.0.0.1:{port}",
        "login_url": "login.html",
        "api_prefix": "api",
        "static_files_path": place + "/pages",
        "log_mode": "console",
        "log_level": "INFO",
        "cookie_domain": "",
        "cookie_secure": 0,
        "cookie_same_site": "empty",
        "session_expiration": 86400,
        "session_key": "GLEWLWYD2_SESSION_ID",
        "admin_session_authentication": "cookie",
        "profile_session_authentication": "cookie",
        "login_api_enabled": True,
        "admin_scope": "g_admin",
        "profile_scope": "g_profile",
        "user_module_path": MODULES + "user",
        "client_module_path": MODULES + "client",
        "user_auth_scheme_module_path": MODULES + "scheme",
        "plugin_module_path": MODULES + "plugin",
        "hash_algorithm": "SHA512",
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    lines.append(f'database = {{ type = "sqlite3" path = {json.dumps(place + "/data.db")} }}')
    rows = [f'{{ extension = "{name}" mime_type = "{kind}" }}' for name, kind in types.items()]
    lines.append("static_files_mime_types = (" + ", ".join(rows) + ")")
    return "\n".join(lines) + "\n"


def pages(place):
    """Copies the package's own pages, of which one logs in; some are links to other packages.

    The `config.json` is a link to a folder in Debian 12, so that no page gets further than
    "Loading…"; here it is the file in that folder.
    """
    shutil.copytree(PAGES, place + "/pages")
    settings = place + "/pages/config.json"
    if os.path.isdir(settings):
        os.rename(settings, settings + ".folder")
        os.rename(settings + ".folder/config.json", settings)


class Administrator:
    """Speaks to the administration API, in a session of the user that the package's schema makes."""

    def __init__(self, address):
        self.address = address + "/api"
        self.cookie = None

    def call(self, method, path, body=None):
        """The reply's body; ends the process where the server refuses."""
        headers = {"Content-Type": "application/json"}
        if self.cookie:
            headers["Cookie"] = self.cookie
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as reply:
                if reply.headers["Set-Cookie"]:
                    self.cookie = reply.headers["Set-Cookie"].split(";")[0]
                return reply.read()
        except urllib.error.HTTPError as error:
            raise SystemExit(f"glewlwyd: {method} {path}: {error.code} {error.read()}") from error

    def log_in(self, user, password):
        self.call("POST", "/auth/", {"username": user, "password": password})


def server(name, address, options, bound):
    """The plugin that is the authorization server."""
    return {
        "module": "oidc",
        "name": name,
        "display_name": name,
        "enabled": True,
        "parameters": {
            "iss": f"{address}/api/{name}",
            "jwt-type": "sha",
            "jwt-key-size": "256",
            "key": os.urandom(32).hex(),
            "code-duration": 600,
            "access-token-duration": options.token_seconds,
            "refresh-token-duration": 1209600,
            "refresh-token-rolling": False,
            "refresh-token-one-use": "always",
            "allow-non-oidc": True,
            "auth-type-code-enabled": True,
            "auth-type-code-revoke-replayed": True,
            "auth-type-token-enabled": False,
            "auth-type-implicit-enabled": False,
            "auth-type-password-enabled": True,
            "auth-type-client-enabled": True,
            "auth-type-refresh-enabled": True,
            "auth-type-device-enabled": True,
            "device-authorization-expiration": 600,
            "device-authorization-interval": options.poll_seconds,
            "pkce-allowed": True,
            "pkce-required": True,
            "pkce-method-plain-allowed": False,
            "introspection-revocation-allowed": True,
            "introspection-revocation-allow-target-client": True,
            "introspection-revocation-auth-scope": [],
            "jwks-show": True,
            "oauth-dpop-allowed": bound,
            "oauth-dpop-iat-duration": 60,
            "oauth-dpop-iat-gap-duration": 5,
            "oauth-dpop-nonce-mandatory": bound,
            "oauth-dpop-nonce-counter": 100,
            "oauth-par-allowed": True,
            "oauth-par-required": False,
            "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
            "oauth-par-duration": 90,
            "oauth-as-iss-id": True,
            "scope": [{"name": scope, "refresh-token-rolling": False} for scope in SCOPES],
        },
    }


def client(description, redirects):
    secret = description.get("client_secret")
    methods = ["client_secret_basic", "client_secret_post"] if secret else ["none"]
    kinds = ["code", "refresh_token", "device_authorization", "delete_token", "password"]
    body = {
        "client_id": description["client_id"],
        "name": f"The {description['client_id']} client",
        "enabled": True,
        "confidential": secret is not None,
        "scope": SCOPES,
        "redirect_uri": redirects,
        "authorization_type": kinds + (["client_credentials"] if secret else []),
        "token_endpoint_auth_method": methods,
    }
    if secret:
        body |= {"client_secret": secret, "password": secret}
    return body


def set_up(address, redirects, options):
    admin = Administrator(address)
    admin.log_in("admin", "password")
    for scope in SCOPES:
        admin.call(
            "POST",
            "/scope/",
            {
                "name": scope,
                "display_name": scope,
                "password_required": True,
                "scheme": {},
                "scheme_required": {},
            },
        )
    for name, bound in (("plain", False), ("bound", True)):
        admin.call("POST", "/mod/plugin/", server(name, address, options, bound))
    admin.call(
        "POST",
        "/user/",
        {
            "username": USER["name"],
            "name": "Ann",
            "email": "ann@example.org",
            "password": USER["password"],
            "scope": ["openid", "g_profile"] + SCOPES,
            "enabled": True,
        },
    )
    for description in (CONFIDENTIAL, PUBLIC):
        admin.call("POST", "/client/", client(description, redirects))


class Person(Administrator):
    """The user, in a session of her own, without a browser."""

    def __init__(self, address):
        super().__init__(address)
        self.log_in(USER["name"], USER["password"])

    def consent(self, client_id, scope):
        self.call("PUT", f"/auth/grant/{client_id}", {"scope": scope})

    def approve(self, server, client_id, user_code, scope="read write"):
        """Types the code of a device in; whether the server took it."""
        self.consent(client_id, scope)
        query = urllib.parse.urlencode({"code": user_code, "g_continue": ""})
        opener = urllib.request.build_opener(_NoRedirect)
        request = urllib.request.Request(
            f"{self.address}/{server}/device?{query}", headers={"Cookie": self.cookie}
        )
        try:
            opener.open(request, timeout=20)
            return {"approved": False}
        except urllib.error.HTTPError as error:
            return {"approved": "prompt=deviceComplete" in error.headers.get("Location", "")}

    def refresh_tokens(self, server):
        """All that were ever issued to her there, ended ones too, the newest first."""
        return json.loads(self.call("GET", f"/{server}/token?limit=1000"))

    def end_everything(self, server):
        """Takes every live refresh token back, as she can on the server's page."""
        ended = 0
        for token in self.refresh_tokens(server):
            if token["enabled"]:
                name = urllib.parse.quote(token["token_hash"], safe="")
                self.call("DELETE", f"/{server}/token/{name}")
                ended += 1
        return {"ended": ended}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def endpoints(address, name):
    base = f"{address}/api/{name}"
    return {
        "issuer": base,
        "authorize": base + "/auth",
        "token": base + "/token",
        "device": base + "/device_authorization",
        "revoke": base + "/revoke",
        "introspect": base + "/introspect",
        "par": base + "/par",
        "resource": base + "/userinfo",
        "configuration": base + "/.well-known/openid-configuration",
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--redirect", action="append", default=[])
    parser.add_argument("--token-seconds", type=int, default=3600)
    parser.add_argument("--poll-seconds", type=int, default=1)
    options = parser.parse_args()
    redirects = options.redirect or [f"http://127.0.0.1:{peer.free_port()}/callback"]
    for needed in (PAGES + "login.html", SCHEMA):
        if not os.path.exists(needed):
            raise SystemExit(f"{needed} is not there: apt-get install glewlwyd")
    with peer.folder() as place:
        port = peer.free_port()
        with sqlite3.connect(place + "/data.db") as database, open(SCHEMA) as schema:
            database.executescript(schema.read())
        database.close()
        pages(place)
        with open(place + "/settings.conf", "w") as settings:
            settings.write(configuration(place, port))
        log = place + "/log"
        with peer.child(
            ["glewlwyd", "-c", place + "/settings.conf", "-m", "console"], log
        ) as process:

            def ready():
                if process.poll() is not None:
                    with open(log) as told:
                        raise SystemExit(f"glewlwyd ended: {told.read()}")
                return peer.answers(port)

            peer.until(ready, 20, "glewlwyd does not answer")
            address = f"http://127.0.0.1:{port}"
            set_up(address, redirects, options)
            ann = Person(address)
            peer.serve(
                {
                    "peer": "glewlwyd",
                    "address": address,
                    "servers": {name: endpoints(address, name) for name in ("plain", "bound")},
                    "clients": [CONFIDENTIAL, PUBLIC],
                    "users": [USER],
                    "scopes": SCOPES,
                    "redirects": redirects,
                },
                {
                    "approve": ann.approve,
                    "consent": lambda client_id, scope: ann.consent(client_id, scope),
                    "refresh_tokens": ann.refresh_tokens,
                    "end_everything": ann.end_everything,
                    "log": lambda: open(log, errors="replace").read().splitlines()[-200:],
                },
            )


if __name__ == "__main__":
    main()
