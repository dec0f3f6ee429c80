#!/usr/bin/env python3
"""An app in Python, with the standard library alone: app.py SOCKET KEY_FILE API_URL PICTURE"""

import http.client
import json
import socket
import sys
import time


class Agent:
    """What a running agent answers an app, over its Unix socket."""

    def __init__(self, path, key_file):
        self.path = path
        # From a file, never an argument or a variable: others can read those. The file holds the key,
        # or the header with it, which curl wants.
        with open(key_file, encoding="ascii") as file:
            self.key = file.read().split()[-1]

    def call(self, method, target, body=None, headers=None, timeout=330):
        """Asks once, on a connection of its own. The answer's body is read while it comes."""
        connection = http.client.HTTPConnection("vault")
        connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.sock.settimeout(timeout)
        connection.sock.connect(self.path)
        headers = {"Authorization": f"Bearer {self.key}", **(headers or {})}
        connection.request(method, target, body, headers)
        return connection.getresponse()

    def ask(self, method, target, value=None):
        """The agent's own endpoints: an object there and back."""
        body = None if value is None else json.dumps(value)
        answer = self.call(method, target, body, {"Content-Type": "application/json"} if body else {})
        result = json.load(answer)
        if answer.status >= 400:
            raise Refused(answer.status, result["error"])
        return result

    def send(self, method, url, body=None, permissions=(), **headers):
        """Has a request signed and sent. The answer is the provider's, whatever its status."""
        headers = {"Vault-URL": url, **{name.replace("_", "-"): headers[name] for name in headers}}
        if permissions:
            headers["Vault-Permissions"] = ",".join(permissions)
        answer = self.call(method, "/v1/request", body, headers)
        if answer.getheader("Vault-Source") != "provider":
            raise Refused(answer.status, json.load(answer)["error"])
        return answer

    def events(self, after=None):
        """Entry by entry what concerns the app, over lost connections and restarts of the agent too."""
        while True:
            last = {} if after is None else {"Last-Event-ID": str(after)}
            try:
                # A line that says nothing comes every 15 seconds.
                stream = self.call("GET", "/v1/events", headers=last, timeout=60)
                if stream.status == 401:
                    raise Refused(401, json.load(stream)["error"])
                for line in stream if stream.status == 200 else ():
                    if line.startswith(b"data: "):
                        entry = json.loads(line[6:])
                        after = entry["entry"]
                        yield entry
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(1)


class Refused(Exception):
    """The agent's error: its code tells a program why, its message a person."""

    def __init__(self, status, error):
        super().__init__(error["message"])
        self.status, self.code, self.hint = status, error["code"], error["hint"]


def main(path, key_file, api, picture):
    vault = Agent(path, key_file)

    print("app", vault.ask("GET", "/v1/app")["id"])

    accounts = vault.ask("GET", "/v1/accounts")["accounts"]
    for account in accounts:
        print("account", account["type"], account["username"])
    account = accounts[0]

    for access in vault.ask("GET", f"/v1/access?account={account['id']}")["access"]:
        print("permission", access["permission"], access["state"])

    # The agent asks nobody by itself: what is undecided waits for the owner.
    ask = {"type": account["type"], "permissions": ["post"], "audience": "friends"}
    print("ask", vault.ask("POST", "/v1/access", ask)["decision"])

    # Most apps need no token: see send below.
    use = {"account": account["id"], "permissions": ["profile"]}
    print("token of", len(vault.ask("POST", "/v1/token", use)["token"]), "bytes")

    request = {"method": "GET", "url": f"{api}/me", **use}
    signature = vault.ask("POST", "/v1/sign", request)
    print("signature", [header["name"] for header in signature["headers"]])

    # Signed and sent by the agent; the answer is the provider's.
    answer = vault.send("GET", f"{api}/me", permissions=["profile"])
    print("answer", answer.status, answer.read().decode())

    # From the first entry on. A program that keeps the last entry it saw goes on behind that.
    for event in vault.events(after=0):
        print("event", event["event"], ",".join(event["permissions"]), flush=True)
        if event["event"] == "granted" and "post" in event["permissions"]:
            break

    # A file is sent as it is read.
    with open(picture, "rb") as file:
        answer = vault.send(
            "POST", f"{api}/photos", file, permissions=["post"], Content_Type="image/png"
        )
    print("upload", answer.status)

    # No such account, or none that this app was granted: the agent does not tell which.
    try:
        vault.ask("POST", "/v1/token", {"account": "somebody.else"})
    except Refused as error:
        print("error", error.code)


if __name__ == "__main__":
    main(*sys.argv[1:])
