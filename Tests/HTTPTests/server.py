"""Servers that behave as they are told, for the tests of the transport.

Started with a directory that has the certificates: `server.py DIR`. Listens on ports that the kernel
gives and prints one line of JSON with them, then ends with its standard input.

Over raw sockets, so that every byte that goes up can be counted and every byte that goes down can be
wrong. Each request's path says how it is answered; what was received is kept and told by `/log`, which
is asked over the port `control`.
"""

import gzip
import hashlib
import json
import os
import socket
import ssl
import struct
import sys
import threading
import time

DIRECTORY = sys.argv[1]
LOCK = threading.Lock()
# What came, by the name of the port: connections, requests, bytes.
SEEN = {}
HELD = threading.Event()


def note(name, key, value):
    with LOCK:
        SEEN.setdefault(name, {"connections": 0, "requests": [], "bytes": 0})
        if isinstance(value, int):
            SEEN[name][key] += value
        else:
            SEEN[name][key].append(value)


class Peer:
    """One connection, read with a count."""

    def __init__(self, name, connection):
        self.name, self.connection, self.rest = name, connection, b""
        self.begin()

    def begin(self):
        """Of the next body."""
        self.digest, self.count = hashlib.sha256(), 0

    def more(self):
        piece = self.connection.recv(1 << 16)
        if not piece:
            raise EOFError
        note(self.name, "bytes", len(piece))
        self.rest += piece

    def head(self):
        while b"\r\n\r\n" not in self.rest:
            self.more()
            if self.rest[:1] == b"\x16":
                # TLS where none is spoken.
                self.send(reply(b"", "400 Bad Request"))
                raise EOFError
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        return head.decode("latin-1")

    def exactly(self, count):
        """Counts and drops what is large."""
        kept, left = b"", count
        while left:
            if not self.rest:
                self.more()
            piece, self.rest = self.rest[:left], self.rest[left:]
            left -= len(piece)
            self.digest.update(piece)
            self.count += len(piece)
            if len(kept) < 1 << 16:
                kept += piece
        return kept

    def line(self):
        while b"\r\n" not in self.rest:
            self.more()
        line, self.rest = self.rest.split(b"\r\n", 1)
        return line

    def chunks(self):
        kept = b""
        while count := int(self.line(), 16):
            kept += self.exactly(count)[:(1 << 16) - len(kept)]
            self.line()
        self.line()
        return kept

    def send(self, data):
        self.connection.sendall(data)


def reply(body=b"", status="200 OK", headers=()):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def answer(peer, method, path, head, body, seconds):
    """Whether the connection goes on."""
    send = peer.send
    where = path.split("?")[0]
    if where == "/echo":
        send(reply(json.dumps({"head": head, "body": body.decode("latin-1")}).encode()))
    elif where == "/hash":
        send(reply(json.dumps({"head": head, "body": f"{peer.count} {peer.digest.hexdigest()}"})
                   .encode()))
    elif where == "/bytes":
        count = int(path.split("?")[1])
        send(f"HTTP/1.1 200 OK\r\nContent-Length: {count}\r\n\r\n".encode())
        piece = bytes(range(256)) * 64
        while count:
            send(piece[:count])
            count -= len(piece[:count])
    elif where == "/status":
        send(reply(b"no", path.split("?")[1].replace("+", " ")))
    elif where == "/head":
        send(b"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n")
    elif where == "/interim":
        send(b"HTTP/1.1 103 Early Hints\r\nLink: early\r\n\r\n" * 3)
        send(reply(b"last", headers=["Set-Cookie: a=1", "X-Two: 1", "x-two:  2 ", "Empty:"]))
    elif where == "/interims":
        for _ in range(20000):
            send(b"HTTP/1.1 103 Early Hints\r\nLink: " + b"e" * 100 + b"\r\n\r\n")
        send(reply(b"last"))
    elif where == "/trailer":
        send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Late\r\n\r\n"
             b"3\r\nabc\r\n0\r\nX-Late: 1\r\n\r\n")
    elif where == "/redirect":
        send(reply(b"", "307 Temporary Redirect", [f"Location: {path.split('?to=')[1]}"]))
    elif where == "/headers":
        send(b"HTTP/1.1 200 OK\r\n")
        for index in range(int(path.split("?")[1])):
            send(b"X-Filler-%d: " % index + b"f" * 1000 + b"\r\n")
        send(b"Content-Length: 2\r\n\r\nok")
    elif where == "/chunks":
        send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(int(path.split("?")[1])):
            send(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
        send(b"0\r\n\r\n")
    elif where == "/bomb":
        send(reply(gzip.compress(b"\0" * (64 << 20), 1), headers=["Content-Encoding: gzip"]))
    elif where == "/gzip":
        send(reply(gzip.compress(b"plain text " * 100), headers=["Content-Encoding: gzip"]))
    elif where == "/notgzip":
        send(reply(b"this is no gzip", headers=["Content-Encoding: gzip"]))
    elif where == "/short":
        send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b'{"a":1}')
        return False
    elif where == "/shortchunk":
        send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nabc")
        return False
    elif where == "/garbage":
        send(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        return False
    elif where == "/nothing":
        return False
    elif where == "/reset":
        reset(peer.connection)
        return False
    elif where == "/never":
        HELD.wait(60)
        return False
    elif where == "/trickle":
        send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        for _ in range(600):
            send(b"x")
            if HELD.wait(0.05):
                break
        return False
    elif where == "/stall":
        send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        HELD.wait(60)
        return False
    elif where == "/slow":
        time.sleep(seconds)
        send(reply(b"slow"))
    elif where == "/close":
        # Keep-alive was promised; what comes next is read and never answered.
        send(reply(b"first"))
        head = peer.head()
        note(peer.name, "requests", head.split("\r\n")[0])
        return False
    else:
        send(reply(b"not here", "404 Not Found"))
    return True


def serve(name, connection, context=None):
    note(name, "connections", 1)
    try:
        if context:
            connection = context.wrap_socket(connection, server_side=True)
        peer = Peer(name, connection)
        while True:
            head = peer.head()
            method, path, _ = head.split("\r\n")[0].split(" ")
            fields = {
                line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip()
                for line in head.split("\r\n")[1:]}
            note(name, "requests", f"{method} {path}")
            body = b""
            peer.begin()
            if path == "/early":
                # Before any of the body is read.
                peer.send(reply(b"no", "401 Unauthorized", ["Connection: close"]))
                break
            if fields.get("transfer-encoding") == "chunked":
                body = peer.chunks()
            elif "content-length" in fields:
                body = peer.exactly(int(fields["content-length"]))
            if not answer(peer, method, path, head, body, 0.02):
                break
    except (EOFError, OSError, ValueError):
        pass
    finally:
        try:
            connection.close()
        except OSError:
            pass


def proxy(name, connection, ports):
    """CONNECT to any host: it is always the server `secure`. With the host `refused.test` it is 403."""
    note(name, "connections", 1)
    try:
        peer = Peer(name, connection)
        head = peer.head()
        note(name, "requests", head)
        if "refused.test" in head:
            peer.send(reply(b"", "403 Forbidden"))
            return
        peer.send(b"HTTP/1.1 200 Connection established\r\nX-Proxy: here\r\n\r\n")
        other = socket.create_connection(("127.0.0.1", ports["secure"]))

        def copy(source, target):
            try:
                while data := source.recv(1 << 16):
                    target.sendall(data)
                target.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        thread = threading.Thread(target=copy, args=(other, connection), daemon=True)
        thread.start()
        copy(connection, other)
        thread.join()
    except (EOFError, OSError):
        pass
    finally:
        connection.close()


def control(name, connection):
    try:
        head = Peer(name, connection).head()
        if head.startswith("GET /release"):
            HELD.set()
        with LOCK:
            connection.sendall(
                reply(json.dumps(SEEN).encode(), headers=["Connection: close"]))
    except (EOFError, OSError):
        pass
    finally:
        connection.close()


def hold(name, connection):
    """Takes what comes and says nothing, not even in TLS."""
    note(name, "connections", 1)
    try:
        peer = Peer(name, connection)
        while True:
            peer.more()
    except (EOFError, OSError):
        connection.close()


def listen(handler, *arguments):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen(512)

    def accept():
        while True:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(
                target=handler, args=(arguments[0], connection, *arguments[1:]),
                daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def context(certificate, newest=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if newest:
        made.set_ciphers("ALL:@SECLEVEL=0")
        made.minimum_version = ssl.TLSVersion.TLSv1
        made.maximum_version = newest
    made.load_cert_chain(
        os.path.join(DIRECTORY, certificate + ".pem"), os.path.join(DIRECTORY, certificate + ".key"))
    return made


def main():
    ports = {
        "plain": listen(serve, "plain"),
        "other": listen(serve, "other"),
        "secure": listen(serve, "secure", context("good")),
        "old": listen(serve, "old", context("good", ssl.TLSVersion.TLSv1_1)),
        "wronghost": listen(serve, "wronghost", context("wronghost")),
        "expired": listen(serve, "expired", context("expired")),
        "selfsigned": listen(serve, "selfsigned", context("selfsigned")),
        "hold": listen(hold, "hold"),
        "control": listen(control, "control"),
    }
    ports["proxy"] = listen(proxy, "proxy", ports)
    print(json.dumps(ports), flush=True)
    sys.stdin.read()


main()
