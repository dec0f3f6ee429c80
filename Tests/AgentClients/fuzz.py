#!/usr/bin/env python3
"""Sends what no client should send to one of the agent's sockets, and looks at what comes back.

    fuzz.py SOCKET KEY-FILE SEED COUNT PROBE-PATH

Whole requests are made from a grammar, then bytes, lines, lengths and JSON are changed. Every answer must be
HTTP/1.1 with a status that is no 5xx but 503, and with a body that is JSON where it says so. After each hundred a
good request must be answered at once. Prints one JSON object: sent, answered, closed, by status, and
`findings`, which must be empty. The same seed sends the same bytes.
"""
import collections
import json
import random
import socket
import sys
import time

PATHS = ["/v1/app", "/v1/accounts", "/v1/access", "/v1/token", "/v1/sign", "/v1/request", "/v1/events",
         "/v1/openapi.json", "/v1/status", "/v1/lock", "/v1/unlock", "/v1/run", "/v1/key", "/v1/metrics", "/", "*",
         "http://vault/v1/app", "/v1/../v1/app", "/v1/app%00", "/v1/access?account=%ff&perms=,,,",
         "/v1/access?" + "a=b&" * 500]
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "G\0T", "X" * 300]
NASTY = [b"\0", b"\r", b"\n", b"\r\n\r\n", b"\xff\xfe", b"%00", b"\xed\xa0\x80", b"A" * 5000, b"-1", b"99999999999999999999",
         b"../..", b"\x1b[2J", b"{{{{", b"[" * 3000, b'"', b"\\u0000", b"\\ud800"]


class Fuzz:
    def __init__(self, path, key, seed, count, probe):
        self.path, self.key, self.count, self.probe = path, key, count, probe
        self.random = random.Random(seed)
        self.seen = collections.Counter()
        self.findings = []

    def value(self, depth=0):
        r = self.random
        kind = r.randrange(9 if depth < 4 else 7)
        if kind == 0:
            return r.choice([None, True, False])
        if kind == 1:
            return r.choice([0, -1, 2**63, -2**63, 10**30, 1e308, -0.0])
        if kind in (2, 3, 4):
            return r.choice(["email", "facebook", "publish_actions", "", "\0", "é" * 200, "a" * 3000, "../x",
                             "https://graph.facebook.com/me", "http://127.0.0.1:1/", "facebook:lestat.ali"])
        if kind in (5, 6):
            return [self.value(depth + 1) for _ in range(r.randrange(4))]
        return {r.choice(["permissions", "account", "type", "url", "method", "form", "renew", "arguments", "x"]):
                self.value(depth + 1) for _ in range(r.randrange(5))}

    def request(self):
        r = self.random
        method, path = r.choice(METHODS), r.choice(PATHS)
        body = b""
        if r.random() < 0.6:
            body = json.dumps(self.value()).encode("utf-8", "surrogatepass")
        lines = [f"{method} {path} {r.choice(['HTTP/1.1'] * 8 + ['HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1 x', ''])}"]
        if r.random() < 0.9:
            lines.append("Host: vault")
        if r.random() < 0.8:
            lines.append("Authorization: " + r.choice(["Bearer ", "bearer ", "Basic ", "Bearer  ", ""])
                         + r.choice([self.key, self.key, self.key[:-1], self.key.upper(), "x" * 4000, "\x80"]))
        if body or r.random() < 0.3:
            lines.append("Content-Type: " + r.choice(
                ["application/json"] * 4 + ["text/plain", "application/octet-stream", "application/json; charset=latin1", ""]))
            if r.random() < 0.1:
                lines.append("Transfer-Encoding: chunked")
                body = b"%x\r\n" % r.choice([len(body), 0, 2**40, len(body) + 7]) + body + b"\r\n0\r\n\r\n"
            else:
                length = r.choice([len(body)] * 8 + [0, len(body) + 3, -1, 2**63, "x"])
                lines.append(f"Content-Length: {length}")
        for _ in range(r.choice([0, 0, 0, 1, 2, 60])):
            lines.append(f"{r.choice(['Vault-URL', 'Vault-Account', 'Expect', 'Connection', 'Last-Event-ID', 'X-A', 'Host'])}: "
                         f"{r.choice(['100-continue', 'close', 'keep-alive', '-1', 'https://evil.example/', 'b' * 500, ''])}")
        data = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
        for _ in range(r.choice([0, 0, 0, 1, 1, 3, 10])):
            at = r.randrange(len(data)) if data else 0
            change = r.randrange(5)
            if change == 0:
                data = data[:at] + bytes([r.randrange(256)]) + data[at + 1:]
            elif change == 1:
                data = data[:at] + r.choice(NASTY) + data[at:]
            elif change == 2:
                data = data[:at]
            elif change == 3:
                data = data[:at] + data[at + r.randrange(1, 40):]
            else:
                data = data + data[at:at + 200]
        return data

    def exchange(self, data, patience):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
            channel.settimeout(patience)
            told = b""
            try:
                channel.connect(self.path)
                channel.sendall(data)
                channel.shutdown(socket.SHUT_WR)
                while len(told) < 1 << 20:
                    piece = channel.recv(65536)
                    if not piece:
                        break
                    told += piece
            except TimeoutError:
                self.seen["waited"] += 1
            except (BrokenPipeError, ConnectionResetError):
                self.seen["cut"] += 1
            return told

    def look(self, data, told):
        if not told:
            self.seen["closed"] += 1
            return
        if not told.startswith(b"HTTP/1.1 ") or not told[9:12].isdigit():
            self.finding("no HTTP", data, told)
            return
        status = int(told[9:12])
        self.seen[status] += 1
        if status >= 500 and status != 503 and status not in (501, 505):
            self.finding(f"status {status}", data, told)
        head, _, body = told.partition(b"\r\n\r\n")
        if b"application/json" in head and b"Content-Length: " in head and not data.startswith(b"HEAD"):
            length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
            if len(body) >= length > 0:
                try:
                    json.loads(body[:length])
                except ValueError:
                    self.finding("no JSON", data, told)

    def finding(self, what, data, told):
        # The key of the app that is tried is no secret of the test, but is not needed to see it.
        shown = data.replace(self.key.encode(), b"KEY")
        self.findings.append({"what": what, "sent": repr(shown[:600]), "told": repr(told[:300])})

    def good(self):
        began = time.monotonic()
        told = self.exchange(
            f"GET {self.probe} HTTP/1.1\r\nHost: vault\r\nAuthorization: Bearer {self.key}\r\nConnection: close\r\n\r\n".encode(), 10)
        if not told.startswith(b"HTTP/1.1 200 "):
            self.finding("a good request failed", b"", told)
        elif time.monotonic() - began > 5:
            self.finding("a good request waited", b"", told)

    def run(self):
        for number in range(self.count):
            data = self.request()
            self.look(data, self.exchange(data, 0.5))
            if number % 100 == 99:
                self.good()
            if len(self.findings) > 20:
                break
        self.good()
        print(json.dumps({"sent": self.count, "seen": {str(k): v for k, v in sorted(self.seen.items(), key=str)},
                          "findings": self.findings}))


path, key_file, seed, count, probe = sys.argv[1:]
Fuzz(path, open(key_file, encoding="ascii").read().strip(), int(seed), int(count), probe).run()
