#!/usr/bin/env python3
"""Many clients at once on the agent's socket for apps, for so many seconds.

    load.py SOCKET KEY-FILE CLIENTS SECONDS

Each client keeps a connection for a while and makes another; it asks for a token, for its permissions
and for its accounts in turn. Whatever is not the answer it must be counts as an error. Prints one JSON
object: requests, errors, the first errors in words, milliseconds of the median and of the slowest
hundredth.
"""
import http.client
import json
import socket
import sys
import threading
import time


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("vault", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


ASKED = [
    ("POST", "/v1/token", b'{"permissions":["email"]}', lambda body: body["token"]),
    ("GET", "/v1/access", None, lambda body: body["access"][0]["permission"]),
    ("GET", "/v1/accounts", None, lambda body: body["accounts"][0]["id"]),
]


class Client(threading.Thread):
    def __init__(self, path, key, until):
        super().__init__(daemon=True)
        self.path, self.key, self.until = path, key, until
        self.times, self.errors = [], []

    def run(self):
        connection, count = None, 0
        while time.monotonic() < self.until:
            method, target, body, expected = ASKED[count % len(ASKED)]
            headers = {"Authorization": "Bearer " + self.key}
            if body:
                headers["Content-Type"] = "application/json"
            try:
                connection = connection or Connection(self.path)
                began = time.monotonic()
                connection.request(method, target, body, headers)
                answer = connection.getresponse()
                told = answer.read()
                self.times.append(time.monotonic() - began)
                if answer.status != 200:
                    self.errors.append(f"{method} {target}: {answer.status} {told[:200]!r}")
                elif not expected(json.loads(told)):
                    self.errors.append(f"{method} {target}: empty")
            except Exception as error:  # each of them is what the test looks for
                self.errors.append(f"{method} {target}: {error!r}")
                connection = None
            count += 1
            if connection and count % 500 == 0:
                connection.close()
                connection = None


def main():
    path, key_file, clients, seconds = sys.argv[1:]
    key = open(key_file, encoding="ascii").read().strip()
    until = time.monotonic() + float(seconds)
    threads = [Client(path, key, until) for _ in range(int(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = sorted(time for thread in threads for time in thread.times)
    errors = [error for thread in threads for error in thread.errors]
    idle = sum(1 for thread in threads if not thread.times)
    print(json.dumps({
        "requests": len(times), "errors": len(errors), "first": errors[:5], "never_answered": idle,
        "median_ms": times[len(times) // 2] * 1000 if times else None,
        "slow_ms": times[len(times) * 99 // 100] * 1000 if times else None,
    }))


main()
