"""The rows of a running agent: commands that it does, its requests a second, its memory. Part of
compare.py."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

ASKED = ("--app", "1", "--account", "facebook:user0000050", "--perms", "publish_actions")


class Agent:
    """`vault agent` on one of our vaults, as long as the block runs."""

    def __init__(self, bench, directory, environment):
        self.vault = [bench.vault, "--vault", f"{directory}/accounts.vault"]
        self.key = ["--key-file", f"{directory}/vault.key"]
        self.environment = environment

    def __enter__(self):
        # Short, for a socket's path may have no more than 107 bytes.
        self.runtime = tempfile.mkdtemp(prefix="vault-bench.")
        self.environment["XDG_RUNTIME_DIR"] = self.runtime
        try:
            # Far above what one connection reaches: the limit of an app is not what is measured.
            self.process = subprocess.Popen(
                [*self.command("agent"), *self.key, "--app-rate", "1000000"],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
        except OSError:
            self.forget()
            raise
        for _ in range(500):
            told = subprocess.run(
                [*self.command("status"), "--json"], env=self.environment, capture_output=True,
                stdin=subprocess.DEVNULL, check=False)
            self.status = json.loads(told.stdout) if told.returncode == 0 else {}
            if self.status.get("state") == "unlocked":
                return self
            time.sleep(0.02)
        self.__exit__()
        raise subprocess.SubprocessError("vault agent: not ready within 10 s")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.forget()

    def forget(self):
        del self.environment["XDG_RUNTIME_DIR"]
        shutil.rmtree(self.runtime)

    def command(self, name, *words):
        """A command that finds the agent: the file is named, and nothing that opens it."""
        return [self.vault[0], name, *self.vault[1:], *words]

    def memory(self, field):
        """KiB, as the kernel has it."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return float(re.search(rf"^{field}:\s+(\d+) kB$", file.read(), re.M).group(1))

    def token_request(self, place, key):
        """A file with the request for a token, as an app sends it."""
        app, account, permission = ASKED[1::2]
        body = json.dumps({"account": account, "permissions": [permission]})
        path = os.path.join(place, "token-request")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w",
                  encoding="ascii") as file:
            file.write("POST /v1/token HTTP/1.1\r\nHost: vault\r\n"
                       f"Authorization: Bearer {key}\r\nContent-Type: application/json\r\n"
                       f"Content-Length: {len(body)}\r\n\r\n{body}")
        return path


class Twin:
    """`ipc server` of the C programs, as long as the block runs."""

    def __init__(self, program):
        self.program = program

    def __enter__(self):
        self.place = tempfile.mkdtemp(prefix="vault-bench.")
        self.socket = os.path.join(self.place, "s")
        self.process = subprocess.Popen([self.program, "server", self.socket])
        while not os.path.exists(self.socket):
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.place)


def measure(bench, run, environment, unmeasured):
    """Goals 3 and 15, and the agent's requests a second."""
    accounts = bench.accounts
    with Agent(bench, bench.our_vault(accounts), environment) as agent:
        idle = agent.memory("VmRSS"), agent.memory("RssAnon")
        try:
            twin = Twin(bench.c_program("ipc"))
        except unmeasured as reason:
            commands(bench, agent, lambda: (_ for _ in ()).throw(reason))
        else:
            with twin:
                commands(bench, agent, lambda: [twin.program, "client", twin.socket])

        key = json.loads(run(*agent.command("new-app-key", "1", "--json")))["key"]
        request = agent.token_request(bench.room, key)

        def ours():
            return float(run(os.path.join(bench.room, "kept"), agent.status["apps_socket"], request,
                             "20000").split()[1])

        def theirs():
            told = run(bench.c_program("ipc"), "pp", os.path.join(agent.runtime, "c"))
            return 1e6 / float(re.search(r"kept connection: ([\d.]+) us", told).group(1))

        figures = bench.in_turn(ours, theirs)
        bench.tell(16, "/v1/token on a kept connection", *figures, "/s", least=0.25)
        bench.tell(15, f"the agent, idle with {accounts:,} accounts", idle[0], 20480.0, "KiB",
                   most=1.0, other="20 MiB")
        bench.tell("", "of which its own, not of files", idle[1], 20480.0, "KiB", most=1.0,
                   other="20 MiB")


def commands(bench, agent, twin):
    token, read, true, client = bench.processes(
        lambda: agent.command("token", *ASKED), lambda: agent.command("show-account", ASKED[3]),
        lambda: ["/bin/true"], twin)
    for name, ours in (("vault token", token), ("vault show-account", read)):
        bench.tell(3, f"{name}, agent", ours[0], true[0], "ms", most=1.5, other="/bin/true")
        bench.tell(3, "the same", ours[0], client[0], "ms", most=1.4)
    bench.tell(15, "the memory of that vault token", token[1], 6144.0, "KiB", most=1.0, other="6 MiB")
