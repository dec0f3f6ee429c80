"""What every peer has in common: a folder of its own, one line that tells where it is, and an end.

A peer is an OAuth server that others wrote, started on a loopback address for the tests. It writes
one line of JSON to its standard output once it answers, and ends, with every process that it
started and its folder, when its standard input is closed: so it never outlives whoever started it,
however that one ended. Whoever started it may also ask it for something: a line of JSON in, a line
of JSON out.
"""

import contextlib
import ctypes
import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time


def free_port():
    """A port of 127.0.0.1 that nobody listens on now, for servers that cannot be given port 0."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def folder():
    """A private folder, removed at the end."""
    path = tempfile.mkdtemp(prefix="accountvault-peer-")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _start_of_child():
    # Whoever runs the tests may block signals, and a child would inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    # PR_SET_PDEATHSIG: the kernel ends the child even where this process was killed with 9.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


@contextlib.contextmanager
def child(arguments, log, **options):
    """A process that is ended at the end; its output goes to the file `log`."""
    with open(log, "ab") as output:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            preexec_fn=_start_of_child,
            **options,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def until(condition, seconds, what):
    """Asks `condition` until it is true; after `seconds` it ends the process and says `what`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"{what} after {seconds} s")
        time.sleep(0.02)


def answers(port):
    """Whether somebody accepts connections on the port."""
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def tell(value):
    """Writes a line of JSON."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def serve(description, questions=None):
    """Tells where the peer is and answers questions until standard input is closed.

    A question is `{"ask": NAME, …}`; `questions` has a function for each name, which gets the other
    members by name and returns what is told. SIGTERM and SIGINT end it like a closed input.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    tell(description)
    for line in sys.stdin:
        question = json.loads(line)
        tell((questions or {})[question.pop("ask")](**question))


def in_background(function):
    """Runs a server's loop beside `serve`."""
    threading.Thread(target=function, daemon=True).start()


class Log:
    """The requests that a peer answered, in order, for tests that count them."""

    def __init__(self):
        self._entries = []
        self._lock = threading.Lock()

    def add(self, **entry):
        with self._lock:
            self._entries.append(entry)

    def entries(self):
        with self._lock:
            return list(self._entries)
