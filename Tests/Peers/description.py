#!/usr/bin/env python3
"""Holds the agent's description of what apps may ask against the agent: schemathesis makes requests
of it, good ones and bad ones, and looks at each answer.

    description.py SOCKET KEY_FILE SECONDS

The tester speaks TCP, so a port of this machine is passed on to the socket meanwhile. What it writes
goes into the working folder. Exits as schemathesis does: 0 where nothing was found.
"""

import pathlib
import socket
import subprocess
import sys
import threading

# A stream of events has no end, and what is sent to a provider is answered by it, not by the agent:
# AppEndpointTests, SendTests and SwiftClientTests look at these two.
LEFT_OUT = ["/v1/events", "/v1/request"]

# All that schemathesis has, but for: positive_data_acceptance (a good request for an account that the app
# was not granted is refused, which the description cannot say), and those about resources that one
# call makes and another takes away, of which there are none (use_after_free,
# ensure_resource_availability).
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
    "ignored_auth",
]


def pass_on(source, target):
    """Copies until the source ends; then only this way ends, as an answer may still come the other."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for side in (source, target):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def join(client, path):
    """Passes on both ways and closes both; a client the agent does not take is closed."""
    with client, socket.socket(socket.AF_UNIX) as agent:
        try:
            agent.connect(path)
        except OSError:
            return
        back = threading.Thread(target=pass_on, args=(agent, client), daemon=True)
        back.start()
        pass_on(client, agent)
        back.join()


def serve(listener, path):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=join, args=(client, path), daemon=True).start()


def main():
    path, key, seconds = sys.argv[1:]
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    threading.Thread(target=serve, args=(listener, path), daemon=True).start()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    key = pathlib.Path(key).read_text().strip()
    config = pathlib.Path("schemathesis.toml")
    config.touch(mode=0o600)
    # A body or an address that is too long is refused as such before it is read.
    config.write_text(
        f'headers = {{ Authorization = "Bearer {key}" }}\n'
        "[checks.negative_data_rejection]\n"
        "expected-statuses = [400, 401, 403, 404, 405, 413, 414, 415, 431]\n"
    )
    command = [
        pathlib.Path(sys.executable).parent / "schemathesis",
        f"--config-file={config}",
        "run",
        f"{address}/v1/openapi.json",
        f"--url={address}",
        f"--checks={','.join(CHECKS)}",
        f"--max-time={seconds}",
        "--phases=examples,coverage,fuzzing",
        "--mode=all",
        "--seed=1",
        "--generation-database=none",
        "--request-timeout=10",
        "--max-failures=20",
        "--no-color",
        "--warnings=off",
        *[f"--exclude-path={path}" for path in LEFT_OUT],
    ]
    sys.exit(subprocess.run(command, timeout=int(seconds) + 30).returncode)


if __name__ == "__main__":
    main()
