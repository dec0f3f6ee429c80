#!/usr/bin/env python3
"""Stands between the vault and a peer and does to connections what networks do.

    fault_proxy.py PORT

It passes connections on to that port of 127.0.0.1. Each connection takes the next fault that was
asked for; where none is left it goes through unharmed. In every kind but `refuse` the server gets
the whole request, and answers: what is lost is the answer, which is the case that loses refresh
tokens.

- `refuse`: closed before anything is passed on;
- `delay`: the answer comes after `seconds`;
- `cut`: after `after` bytes of the answer the connection is reset, with 0 before the first;
- `close`: the same, but closed in good order, so that the answer only looks too short;
- `replace`: `old` in the answer becomes `new`, of the same length;
- `hold`: the answer is kept until `release` is asked for. `held` waits until it is there.

`log` tells, for each connection in order, its first line, its fault, the bytes that each side was
sent, whether the server began to answer, and the answers as they came from the server.
"""

import collections
import select
import socket
import struct
import sys
import threading
import time

import peer

KINDS = ("refuse", "delay", "cut", "close", "replace", "hold", "pass")


class Proxy:
    def __init__(self, port):
        self.port = port
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.changed = threading.Condition()
        self.faults = collections.deque()
        self.entries = []
        self.holding = 0
        self.released = 0

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            with self.changed:
                fault = self.faults.popleft() if self.faults else {"kind": "pass"}
                entry = {
                    "first": "",
                    "fault": fault["kind"],
                    "to_server": 0,
                    "answered": False,
                    "to_client": 0,
                    "answers": [],
                }
                self.entries.append(entry)
            threading.Thread(target=self.carry, args=(client, fault, entry), daemon=True).start()

    def carry(self, client, fault, entry):
        if fault["kind"] == "refuse":
            client.close()
            return
        server = socket.create_connection(("127.0.0.1", self.port))
        try:
            self.pass_on(client, server, fault, entry)
        except OSError:
            # Who waited for the answer has gone, perhaps killed; that is what the proxy is for.
            pass
        finally:
            client.close()
            server.close()

    def pass_on(self, client, server, fault, entry):
        """One thread for both directions: a socket that another reads from would not be closed."""
        waiting = [client, server]
        while server in waiting:
            ready, _, _ = select.select(waiting, [], [])
            if client in ready:
                if data := client.recv(65536):
                    if not entry["first"]:
                        entry["first"] = data.split(b"\r\n")[0].decode(errors="replace")
                    server.sendall(data)
                    entry["to_server"] += len(data)
                else:
                    server.shutdown(socket.SHUT_WR)
                    waiting.remove(client)
            if server in ready:
                if (data := server.recv(65536)) and self.answer(client, server, data, fault, entry):
                    continue
                waiting.remove(server)

    def answer(self, client, server, data, fault, entry):
        """The answer's next bytes, with the fault; whether more may come."""
        kind, first = fault["kind"], not entry["answered"]
        entry["answered"] = True
        entry["answers"].append(data.decode(errors="replace"))
        if kind == "replace":
            data = data.replace(fault["old"].encode(), fault["new"].encode())
        if first and kind == "delay":
            time.sleep(fault["seconds"])
        if first and kind == "hold":
            # All of it is there before anybody is told that it is held.
            while more := server.recv(65536):
                data += more
            self.hold()
        if kind in ("cut", "close"):
            left = fault.get("after", 0) - entry["to_client"]
            if len(data) >= left:
                client.sendall(data[:left])
                entry["to_client"] += left
                if kind == "cut":
                    # A reset instead of an end: RST as soon as it is closed.
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
        client.sendall(data)
        entry["to_client"] += len(data)
        return kind != "hold"

    def hold(self):
        with self.changed:
            self.holding += 1
            mine = self.holding
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.released >= mine)

    # What is asked for.
    def next(self, faults):
        for fault in faults:
            if fault["kind"] not in KINDS:
                raise SystemExit(f"no such fault: {fault['kind']}")
        with self.changed:
            self.faults.extend(faults)
        return {}

    def held(self, count=1, seconds=30):
        """Waits until so many answers have been held since the start; whether they were."""
        with self.changed:
            return {"held": self.changed.wait_for(lambda: self.holding >= count, seconds)}

    def release(self):
        with self.changed:
            self.released = self.holding
            self.changed.notify_all()
        return {}

    def log(self):
        with self.changed:
            return [dict(entry) for entry in self.entries]


def main():
    proxy = Proxy(int(sys.argv[1]))
    peer.in_background(proxy.accept)
    address = f"http://127.0.0.1:{proxy.listener.getsockname()[1]}"
    peer.serve(
        {"peer": "fault proxy", "address": address},
        {"next": proxy.next, "held": proxy.held, "release": proxy.release, "log": proxy.log},
    )


if __name__ == "__main__":
    main()
