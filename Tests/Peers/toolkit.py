#!/usr/bin/env python3
"""Starts django-oauth-toolkit, an OAuth 2.0 server in Python, with a login page and a consent page.

    toolkit.py [--token-seconds N]

Refresh tokens work once, without a time of grace, and the whole family is ended when one is used
twice. A loopback redirect address fits on any port (RFC 8252 section 7.3). Metadata by RFC 8414,
with a path in the issuer.
"""

import argparse
import io
import secrets
import socketserver
import threading
import urllib.parse
import wsgiref.simple_server

import django
from django.conf import settings

import peer

USER = {"name": "ann", "password": "ann's long password"}
CONFIDENTIAL = {"client_id": "confidential", "client_secret": "a client's secret, 1: long & odd"}
PUBLIC = {"client_id": "public"}
# Gets tokens for name and password, for tests that do not care how one came about.
DIRECT = {"client_id": "direct"}
REDIRECT = "http://127.0.0.1/callback"
SCOPES = {"read": "Read your things", "write": "Write for you", "introspection": "Look tokens up"}

LOGIN = """<!doctype html><title>Log in</title>
<form method="post">{% csrf_token %}{{ form.as_p }}<input type="submit" value="Log in"></form>"""


def configure(place, token_seconds):
    settings.configure(
        ALLOWED_HOSTS=["127.0.0.1"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": place + "/data.db",
                "OPTIONS": {
                    "timeout": 30,
                    "transaction_mode": "IMMEDIATE",
                    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF",
                },
            }
        },
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        LOGIN_URL="/login",
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        OAUTH2_PROVIDER={
            "ACCESS_TOKEN_EXPIRE_SECONDS": token_seconds,
            "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "https"],
            # The issuer stands in the redirect too (RFC 9207).
            "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
            "PKCE_REQUIRED": True,
            "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0,
            "REFRESH_TOKEN_REUSE_PROTECTION": True,
            "ROTATE_REFRESH_TOKEN": True,
            "SCOPES": SCOPES,
        },
        PASSWORD_HASHERS=["django.contrib.auth.hashers.PBKDF2PasswordHasher"],
        ROOT_URLCONF="toolkit_pages",
        SECRET_KEY=secrets.token_hex(),
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "OPTIONS": {
                    "loaders": [
                        ("django.template.loaders.locmem.Loader", {"login.html": LOGIN}),
                        "django.template.loaders.app_directories.Loader",
                    ]
                },
            }
        ],
        USE_TZ=True,
    )
    django.setup()


class Counting:
    """Notes each request to the token endpoint with its grant and status."""

    def __init__(self, application, log):
        self.application = application
        self.log = log

    def __call__(self, environment, start):
        path = environment["PATH_INFO"]
        grant = None
        if path == "/o/token/":
            body = environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0))
            environment["wsgi.input"] = io.BytesIO(body)
            grant = dict(urllib.parse.parse_qsl(body.decode())).get("grant_type")

        def started(status, headers, *further):
            self.log.add(path=path, grant=grant, status=int(status.split()[0]))
            return start(status, headers, *further)

        return self.application(environment, started)


class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):
        # Without a look-up of the host's name, which may take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address
        self.setup_environ()


class Handler(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


def set_up():
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from oauth2_provider.models import Application

    call_command("migrate", verbosity=0)
    ann = User.objects.create_user(USER["name"], password=USER["password"])
    for description in (CONFIDENTIAL, PUBLIC, DIRECT):
        secret = description.get("client_secret")
        Application.objects.create(
            client_id=description["client_id"],
            client_secret=secret or "",
            client_type="confidential" if secret else "public",
            authorization_grant_type="password" if description is DIRECT else "authorization-code",
            redirect_uris=REDIRECT,
            name=f"The {description['client_id']} client",
            user=ann,
        )


def refresh_tokens():
    """All that were ever issued, the newest last, with what became of them."""
    from oauth2_provider.models import RefreshToken

    return [
        {"token": row.token, "live": row.revoked is None, "family": str(row.token_family)}
        for row in RefreshToken.objects.order_by("id")
    ]


def expire():
    """Every access token ran out a minute ago, whatever the client was told."""
    import datetime

    from django.utils import timezone
    from oauth2_provider.models import AccessToken

    past = timezone.now() - datetime.timedelta(minutes=1)
    return {"expired": AccessToken.objects.update(expires=past)}


def end_everything():
    """What happens when the person takes the application away on the site."""
    from oauth2_provider.models import AccessToken, RefreshToken

    ended = 0
    for row in RefreshToken.objects.filter(revoked__isnull=True):
        row.revoke()
        ended += 1
    AccessToken.objects.all().delete()
    return {"ended": ended}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--token-seconds", type=int, default=3600)
    options = parser.parse_args()
    with peer.folder() as place:
        configure(place, options.token_seconds)
        set_up()
        from django.core.wsgi import get_wsgi_application

        log = peer.Log()
        server = Server(("127.0.0.1", 0), Handler)
        server.set_app(Counting(get_wsgi_application(), log))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        peer.serve(
            {
                "peer": "django-oauth-toolkit",
                "address": address,
                "servers": {
                    "plain": {
                        "issuer": address + "/o",
                        "authorize": address + "/o/authorize/",
                        "token": address + "/o/token/",
                        "revoke": address + "/o/revoke_token/",
                        "introspect": address + "/o/introspect/",
                        "resource": address + "/me",
                    }
                },
                "clients": [CONFIDENTIAL, PUBLIC, DIRECT],
                "users": [USER],
                "scopes": ["read", "write"],
                "redirects": [REDIRECT],
            },
            {
                "refresh_tokens": refresh_tokens,
                "expire": expire,
                "end_everything": end_everything,
                "log": log.entries,
            },
        )


if __name__ == "__main__":
    main()
