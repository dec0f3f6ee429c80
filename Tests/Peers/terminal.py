#!/usr/bin/env python3
"""A terminal for a command, and somebody who types one line when it is asked for.

    terminal.py --when TEXT --answer FILE COMMAND…

What the command shows goes to standard output. Once TEXT was shown, the line in FILE is typed, as soon
as that file is there. Ends with the command's exit code.
"""

import argparse
import os
import pty
import select
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--when", required=True)
    parser.add_argument("--answer", required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(options.command[0], options.command)
    shown = b""
    typed = False
    while True:
        ready, _, _ = select.select([terminal], [], [], 0.05)
        if ready:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                # The command has ended, and with it the other side.
                break
            if not data:
                break
            shown += data
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        if not typed and options.when.encode() in shown and os.path.exists(options.answer):
            with open(options.answer, "rb") as answer:
                os.write(terminal, answer.read())
            typed = True
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)


if __name__ == "__main__":
    main()
