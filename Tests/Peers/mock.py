#!/usr/bin/env python3
"""Starts oidc-provider-mock, the easiest code flow: a page with one field, and no rotation.

    mock.py

Its page asks for no password, and a client with any name and secret is taken.
"""

import socket
import sys

import uvicorn
from oidc_provider_mock import app

import peer


def main():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(app(), interface="wsgi", log_level="error"))
    # Signals are for peer.serve.
    server.install_signal_handlers = lambda: None
    peer.in_background(lambda: server.run(sockets=[listener]))
    peer.until(lambda: server.started, 20, "oidc-provider-mock does not answer")
    peer.serve(
        {
            "peer": "oidc-provider-mock",
            "address": address,
            "servers": {
                "plain": {
                    "issuer": address,
                    "authorize": address + "/oauth2/authorize",
                    "token": address + "/oauth2/token",
                    "resource": address + "/userinfo",
                }
            },
            "clients": [{"client_id": "any", "client_secret": "any secret"}],
            "users": [{"name": "ann"}],
            "redirects": ["http://127.0.0.1/callback"],
        }
    )


if __name__ == "__main__":
    sys.exit(main())
