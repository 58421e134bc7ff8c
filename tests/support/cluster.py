"""Real `rota scheduler` and `rota worker` processes that can be killed, frozen and started again.

Only processes that were started here are ever signalled, each by its own handle. Their output goes
to files beside the witness, for whoever must find out what happened.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
BOUND = Path(__file__).with_name("bound.py")


@dataclass(kw_only=True)
class Member:
    """One place in the cluster: a process, and after its death the next one."""

    name: str
    words: Sequence[str]
    environment: Mapping[str, str]
    log: IO[bytes]
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0
    codes: list[int] = field(default_factory=list)

    def start(self) -> None:
        self.starts += 1
        self.process = subprocess.Popen(
            [sys.executable, "-S", str(BOUND), sys.executable, "-m", "rota", *self.words],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )

    @property
    def is_alive(self) -> bool:
        """Whether it runs; if it has ended, its exit code is kept."""
        if self.process is None:
            return False
        code = self.process.poll()
        if code is None:
            return True
        self.codes.append(code)
        self.process = None
        return False

    def signal(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def end(self) -> None:
        """Whatever state it is in."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@dataclass(kw_only=True)
class Cluster:
    """`settings` are variables such as ROTA_WORKER__LEASE."""

    folder: Path
    settings: Mapping[str, str]
    members: list[Member] = field(default_factory=list)
    logs: list[IO[bytes]] = field(default_factory=list)

    def add(self, name: str, *words: str, variables: Mapping[str, str] | None = None) -> Member:
        """Start a process; `variables` are settings of this one alone."""
        log = (self.folder / f"{name}.log").open("ab")
        self.logs.append(log)
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
            **self.settings,
            **(variables or {}),
        }
        member = Member(name=name, words=words, environment=environment, log=log)
        self.members.append(member)
        member.start()
        return member

    def close(self) -> None:
        for member in self.members:
            member.end()
        for log in self.logs:
            log.close()
