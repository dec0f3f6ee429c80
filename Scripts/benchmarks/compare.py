"""Runs both sides in turn and holds their ratio against the goals. Started by Scripts/bench.

Our side in one process is `vault-bench JOB ARGUMENTS`, which prints lines `name value unit`:

    make DIR ACCOUNTS        a new vault DIR/accounts.vault with the key file DIR/vault.key: accounts
                             facebook:user0000001 and up, each with a token of 256 bytes and a grant
                             of publish_actions to app 1                          -> made    s
    token DIR READS          READS times, of an account drawn anew: look it up by name, check the
                             grant, open the token; warm                          -> tokens  /cpu-s
    grant DIR SECONDS GROUP  for SECONDS: durable grants, GROUP to a commit       -> grants  /s
    ledger DIR ENTRIES       a new vault as by `make`, whose ledger has ENTRIES   -> made    s
    verify DIR               the whole ledger, one thread                         -> entries /cpu-s
    due DIR ACCOUNTS DUE     a new vault as by `make`, with accounts of a provider of its own, DUE of
                             which are due 3,500 s after its making               -> made    s
    find DIR                 those found as the engine finds them, each row checked; warm
                                                        -> find cpu-ms, due credentials

DIR is there and empty for `make`, `ledger` and `due`.

Our side of what the network needs is `vault-network-bench JOB ARGUMENTS`, which prints the same:

    sign COUNT                       OAuth 1.0a signatures       -> signatures    /cpu-s
    requests URL COUNT AT-ONCE CA    posts of a form, AT-ONCE at a time, connections kept
                                                                 -> requests-wall /s
    renew DIR URL CA ROUND           renews what is due in a vault of `due`; ROUND counts from 0, and in
                                     each all are due again
                         -> renewals-wall /s, renewed credentials, growth KiB (of the peak of memory)
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import time

import agent

DUE = 1_000  # credentials, of ten times as many at least

SIZES = {  # accounts of the large and the small vault, entries, rounds, reads, seconds of grants,
           # requests
    "quick": (1_000, 100, 10_000, 7, 5_000, 0.05, 1_000),
    "default": (100_000, 10_000, 100_000, 7, 40_000, 0.25, 10_000),
    "full": (1_000_000, 10_000, 1_000_000, 9, 40_000, 0.5, 40_000),
}


# What a measured program sees. The home is set to one below the room: a vault keeps its head there.
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


class Unmeasured(Exception):
    """A side that is not there, or does not do this job; the text says which and why."""


def run(*arguments):
    """The standard output of a command that must succeed."""
    done = subprocess.run(arguments, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env=ENVIRONMENT)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Unmeasured(f"{os.path.basename(arguments[0])} {' '.join(arguments[1:2])}: {last}")
    return done.stdout


def figure_in(output, start, column, ending=""):
    """The figure that stands `column` words after `start`, with which its line begins, without its
    ending."""
    for line in output.splitlines():
        if line.startswith(start):
            return float(line[len(start):].split()[column].removesuffix(ending))
    raise Unmeasured(f"no line {start!r}")


class TokenEndpoint:
    """A server over TLS that answers like a token endpoint: `nginx.sh` of the C programs, as long as
    the block runs."""

    def __init__(self, script, room):
        self.script, self.directory = script, os.path.join(room, "nginx")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.port, self.url = port, f"https://127.0.0.1:{port}/token"
        self.authority = os.path.join(self.directory, "c.pem")

    def __enter__(self):
        # nginx keeps its standard output, so a pipe would not end.
        told = self.directory + ".pid"
        with open(told, "w") as file:
            subprocess.run(
                ["bash", self.script, self.directory, str(self.port)], stdout=file,
                stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True,
                env={**ENVIRONMENT, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"})
        with open(told) as file:
            self.pid = int(file.read())
        for _ in range(1000):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                time.sleep(0.01)
        self.__exit__()
        raise Unmeasured("nginx does not listen")

    def __exit__(self, *_):
        try:
            os.kill(self.pid, 15)
        except ProcessLookupError:
            pass


class Bench:
    def __init__(self, options):
        self.room, self.vault, self.ours = options.room, options.vault, options.vault_bench
        self.network = options.vault_network_bench
        self.c = os.path.join(self.room, "c")
        (self.accounts, self.few, self.entries, self.rounds, self.reads,
         self.seconds, self.requests) = SIZES[options.size]
        ENVIRONMENT["HOME"] = os.path.join(self.room, "home")
        os.mkdir(ENVIRONMENT["HOME"], 0o700)
        self.missed = self.unmeasured = 0
        self.made = {}

    # The two sides in one process.

    def vault_bench(self, name, *arguments):
        return self.told(self.ours, "vault-bench", name, *arguments)

    def network_bench(self, name, *arguments):
        return self.told(self.network, "vault-network-bench", name, *arguments)

    @classmethod
    def told(cls, program, called, name, *arguments):
        figures = cls.all_told(program, called, *arguments)
        if name not in figures:
            raise Unmeasured(f"{called} {arguments[0]} tells no {name}")
        return figures[name]

    @staticmethod
    def all_told(program, called, *arguments):
        """All figures of one run, by name."""
        if program == "none":
            raise Unmeasured(f"{called} is not there")
        lines = run(program, *map(str, arguments)).splitlines()
        return {name: float(value) for name, value, _ in map(str.split, lines)}

    def c_program(self, name):
        path = os.path.join(self.c, name)
        if not os.path.exists(path):
            raise Unmeasured("not compared")
        return path

    def c_figure(self, start, column, name, *arguments):
        return figure_in(run(self.c_program(name), *map(str, arguments)), start, column)

    # What both sides work on, made when it is first wanted.

    def once(self, name, make):
        if name not in self.made:
            path = os.path.join(self.room, name)
            try:
                make(path)
                self.made[name] = path
            except Unmeasured as reason:
                self.made[name] = reason
        if isinstance(self.made[name], Unmeasured):
            raise self.made[name]
        return self.made[name]

    def c_vault(self, accounts):
        return self.once(
            f"c-{accounts}.db", lambda path: run(self.c_program("mkdb"), path, str(accounts)))

    def c_key(self):
        def make(path):
            with open(path, "wb") as file:
                file.write(bytes([7] * 32))
        return self.once("c.key", make)

    def our_vault(self, accounts):
        def make(path):
            os.makedirs(path, 0o700)
            self.vault_bench("made", "make", path, accounts)
        return self.once(f"ours-{accounts}", make)

    def due_vault(self, accounts, purpose="find"):
        """A vault with 1,000 due; those that are renewed have their own."""
        def make(path):
            os.makedirs(path, 0o700)
            self.vault_bench("made", "due", path, accounts, DUE)
        return self.once(f"due-{purpose}-{accounts}", make)

    # Measuring.

    def in_turn(self, *sides):
        """Medians of all sides, run A B A B; a side that cannot be measured is its reason."""
        figures = [[] for _ in sides]
        for _ in range(self.rounds):
            for index, side in enumerate(sides):
                if isinstance(figures[index], Unmeasured):
                    continue
                try:
                    figures[index].append(side())
                except Unmeasured as reason:
                    figures[index] = reason
        return [f if isinstance(f, Unmeasured) else statistics.median(f) for f in figures]

    def processes(self, *commands, rounds=None):
        """For each command the median milliseconds and the most KiB; a command that cannot be run
        is its reason."""
        told = {}
        runnable = []
        for index, command in enumerate(commands):
            try:
                words = [str(word) for word in command()]
                run(os.path.join(self.room, "spawn"), "1", "--", *words)
                runnable.append((index, words))
            except Unmeasured as reason:
                told[index] = (reason, reason)
        if runnable:
            line = [word for _, words in runnable for word in ["--", *words]]
            count = str(rounds or self.rounds * 5)
            lines = run(os.path.join(self.room, "spawn"), count, *line).splitlines()
            for (index, _), text in zip(runnable, lines):
                median, _, memory = text.split()
                told[index] = (float(median), float(memory))
        return [told[index] for index in range(len(commands))]

    # Telling.

    def tell(self, goal, job, ours, theirs, unit, least=None, most=None, other="C"):
        """One line: both figures, ours as a ratio of theirs, and whether it keeps the goal."""
        def figure(value):
            return f"{value:,.2f}" if isinstance(value, float) and value < 100 else (
                "-" if isinstance(value, Unmeasured) else f"{value:,.0f}")

        bound = f">= {least}" if least is not None else f"<= {most}"
        if isinstance(ours, Unmeasured) or isinstance(theirs, Unmeasured):
            reasons = {str(side) for side in (ours, theirs) if isinstance(side, Unmeasured)}
            self.unmeasured += 1
            ratio, verdict = "-", "; ".join(sorted(reasons))
        else:
            quotient = ours / theirs
            kept = quotient >= least if least is not None else quotient <= most
            self.missed += not kept
            ratio, verdict = f"{quotient:.2f}", "ok" if kept else "FAIL"
        print(f"{goal:>4} {job:<46} {figure(ours):>12} {figure(theirs):>12} {unit:<8}"
              f" {other:<11} {ratio:>7} {bound:<8} {verdict}", flush=True)


def renewal_total(bench):
    """Accounts of the vault in which 1,000 are renewed."""
    return min(max(bench.accounts, 10 * DUE), 100_000)


def renewals(bench, server, c_requests):
    """Renewals a second, and the growth of the memory's peak, of ours; and what C's requests and
    C's durable writes, one row to each, would make in sequence.

    Of C's groups that of 10 is taken: at 8 at once no more than 8 answers come together, and none
    may be used before it is written. C writes no intents.
    """
    grown = []

    def ours():
        vault = bench.due_vault(renewal_total(bench), "renew")
        figures = bench.all_told(bench.network, "vault-network-bench", "renew", vault, server.url,
                                 server.authority, len(grown))
        if figures.get("renewed") != DUE:
            raise Unmeasured(f"vault-network-bench renew: {figures.get('renewed')}, not {DUE}")
        grown.append(figures["growth"])
        return figures["renewals-wall"]

    def theirs():
        requests = c_requests(server, DUE)
        writes = figure_in(run(bench.c_program("commit"), bench.room, str(bench.seconds)),
                           "WAL FULL".ljust(30) + f" {10:6d}", 1)
        return 1 / (1 / requests + 1 / writes)

    rates = bench.in_turn(ours, theirs)
    return *rates, rates[0] if isinstance(rates[0], Unmeasured) else max(grown)


def measure(bench):
    accounts, small = bench.accounts, bench.few
    print(f"{accounts:,} accounts, {bench.entries:,} entries, medians of {bench.rounds} in turn")
    print(f"{'goal':>4} {'job':<46} {'ours':>12} {'other':>12} {'':<8} {'other is':<11}"
          f" {'ratio':>7} {'goal':<8}")

    # 1, 2: a token from the library, each read a transaction of its own.
    def c_tokens(count):
        return bench.c_figure("WAL nomutex cache256M              L3 name+permit+aead", 0,
                            "lookup", bench.c_vault(count), count, 1, "x")

    def tokens(count):
        return bench.vault_bench("tokens", "token", bench.our_vault(count), bench.reads)

    ours, theirs = bench.in_turn(lambda: tokens(accounts), lambda: c_tokens(accounts))
    bench.tell(1, "token with its permission, library", ours, theirs, "/cpu-s", least=0.8)
    many, few = bench.in_turn(lambda: tokens(accounts), lambda: tokens(small))
    bench.tell(2, f"the same of {accounts:,} against {small:,}", many, few, "/cpu-s", least=0.4,
               other="ours, few")

    # 6, 7: durable grants.
    told = []

    def c_grants(group):
        # One run tells the figures of both groups.
        if group == 1:
            told.append(run(bench.c_program("commit"), bench.room, str(bench.seconds)))
        if not told:
            raise Unmeasured("not compared")
        return figure_in(told[-1], "WAL FULL".ljust(30) + f" {group:6d}", 1)

    def grants(group):
        return bench.vault_bench("grants", "grant", bench.our_vault(small), bench.seconds, group)

    figures = bench.in_turn(lambda: grants(1), lambda: c_grants(1),
                            lambda: grants(100), lambda: c_grants(100))
    bench.tell(6, "durable grants, 1 to a commit", *figures[:2], "/s", least=0.8)
    bench.tell(7, "durable grants, 100 to a commit", *figures[2:], "/s", least=0.8)

    # 9: the whole ledger.
    def c_ledger():
        return bench.once("c-ledger.db", lambda path: run(
            bench.c_program("chain"), "mk", path, str(bench.entries)))

    def our_ledger():
        def make(path):
            os.makedirs(path, 0o700)
            bench.vault_bench("made", "ledger", path, bench.entries)
        return bench.once("ours-ledger", make)

    ours, theirs = bench.in_turn(
        lambda: bench.vault_bench("entries", "verify", our_ledger()),
        lambda: bench.c_figure("BLAKE2b verify, 8 typed columns", 0, "chain", "run", c_ledger(), 1))
    bench.tell(9, f"verify {bench.entries:,} entries", ours, theirs, "/cpu-s", least=0.8)

    # 10: what is due, found by the index. Each row of ours is opened and checked, and so is its
    # account's; C reads the row and joins the account.
    large, little = max(accounts, 10 * DUE), max(small, 10 * DUE)

    def find(count):
        figures = bench.all_told(bench.ours, "vault-bench", "find", bench.due_vault(count))
        if figures.get("due") != DUE:
            raise Unmeasured(f"vault-bench find: {figures.get('due')} found, not {DUE}")
        return figures["find"]

    ranges = []

    def c_find(start, anew):
        # One run tells all its ways.
        if anew or not ranges:
            ranges.append(run(bench.c_program("range"), bench.c_vault(large), str(large)))
        return figure_in(ranges[-1], start, 2)

    ours, theirs, scan = bench.in_turn(
        lambda: find(large), lambda: c_find("index + row + join account", True),
        lambda: c_find("full scan (no index), ids", False))
    bench.tell(10, f"find {DUE:,} due of {large:,}", ours, theirs, "cpu-ms", most=1.5)
    if large >= 1_000_000:
        bench.tell(10, "the same against a scan of all", ours, scan, "cpu-ms", most=0.1,
                   other="C scan")
    many, few = bench.in_turn(lambda: find(large), lambda: find(little))
    bench.tell(10, f"the same of {large:,} against {little:,}", many, few, "cpu-ms", most=2.5,
               other="ours, few")

    # 11: requests as renewals make them, 8 at once.
    def c_requests(server, count):
        told = run(bench.c_program("httploop"), server.url, str(count), "8", server.authority)
        if ", 0 bad," not in told:
            raise Unmeasured(f"httploop: {told.strip()}")
        return figure_in(told, f"{count} requests, 8 at once:", 0, ending="/s")

    try:
        with TokenEndpoint(bench.c_program("nginx.sh"), bench.room) as server:
            ours, theirs = bench.in_turn(
                lambda: bench.network_bench("requests-wall", "requests", server.url,
                                            bench.requests, 8, server.authority),
                lambda: c_requests(server, bench.requests))
            renewed = renewals(bench, server, c_requests)
    except (Unmeasured, subprocess.CalledProcessError) as reason:
        ours = theirs = Unmeasured(str(reason))
        renewed = ours, theirs, ours
    bench.tell(11, f"{bench.requests:,} requests over TLS, 8 at once", ours, theirs, "/s", least=0.8)
    bench.tell(11, f"renew {DUE:,} due of {renewal_total(bench):,}, with the writes", *renewed[:2],
               "/s", least=0.8)
    bench.tell("", "the growth of its memory", renewed[2], 16384.0, "KiB", most=1.0, other="16 MiB")

    # 13: OAuth 1.0a.
    ours, theirs = bench.in_turn(
        lambda: bench.network_bench("signatures", "sign", 20_000),
        lambda: bench.c_figure("whole OAuth1 sign (nonce, sort, encode, HMAC-SHA1, header) C", 0,
                               "hmac"))
    bench.tell(13, "OAuth 1.0a signature with its header", ours, theirs, "/cpu-s", least=0.5)

    # 3, 15, 16: a running agent.
    try:
        agent.measure(bench, run, ENVIRONMENT, Unmeasured)
    except (Unmeasured, OSError, subprocess.SubprocessError) as reason:
        bench.tell(3, "a running agent", Unmeasured(str(reason)), 1.0, "ms", most=1.5)

    # 4, 8, 12, 14, 15: whole commands.
    def vault(count, *words):
        directory = bench.our_vault(count)
        return [bench.vault, "--vault", f"{directory}/accounts.vault",
                "--key-file", f"{directory}/vault.key", *words]

    def token(count):
        return vault(count, "token", "--app", "1", "--account", "facebook:user0000050",
                     "--perms", "publish_actions")

    read, flat, twin = bench.processes(
        lambda: token(accounts), lambda: token(small),
        lambda: [bench.c_program("cli-static"), bench.c_vault(accounts), bench.c_key(),
                 "user0000050@mail.example.org"])
    bench.tell(4, "vault token, key in a file", read[0], twin[0], "ms", most=1.5)
    bench.tell(4, f"the same of {accounts:,} against {small:,}", read[0], flat[0], "ms", most=1.2,
               other="ours, few")
    bench.tell(15, "its memory", read[1], 6144.0, "KiB", most=1.0, other="6 MiB")

    grant, twin = bench.processes(
        lambda: vault(accounts, "grant", "--app", "2", "--account", "facebook:user%r",
                      "--perms", "publish_actions"),
        lambda: [bench.c_program("cliw-static"), bench.c_vault(accounts), "%r"])
    bench.tell(8, "vault grant", grant[0], twin[0], "ms", most=1.5)

    for word in ("version", "help"):
        ours, true = bench.processes(lambda: [bench.vault, word], lambda: ["/bin/true"])
        bench.tell(12, f"vault {word}", ours[0], true[0], "ms", most=2, other="/bin/true")

    listed, shell = bench.processes(
        lambda: vault(accounts, "accounts"),
        lambda: ["/usr/bin/sqlite3", bench.c_vault(accounts), "SELECT id, name FROM account"],
        rounds=bench.rounds)
    bench.tell(14, "vault accounts", listed[0], shell[0], "ms", most=2, other="sqlite3")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, required=True)
    for name in ("room", "vault", "vault-bench", "vault-network-bench"):
        parser.add_argument(f"--{name}", required=True)
    bench = Bench(parser.parse_args())
    measure(bench)
    print(f"Scripts/bench: {bench.missed} goals missed, {bench.unmeasured} not measured")
    sys.exit(1 if bench.missed else 0)


main()
