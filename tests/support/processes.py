"""Real processes for tests: users of an embedded server that can be killed.

The same file is the program that such a process runs: it needs nothing but the standard library
and rota, so it can also be run from a copy, as another user.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

PROC = Path("/proc")
KEEPER = "rota.store.embedded.monitor_process"


@dataclass(frozen=True, kw_only=True)
class Person:
    """Whom a process runs as, and the copies of the code that this user can get to."""

    name: str
    uid: int
    gid: int
    python: str = sys.executable
    source: Path = Path(__file__).parents[2] / "src"
    program: Path = Path(__file__)
    binaries: Path | None = None

    @property
    def search_path(self) -> str:
        inherited = os.environ.get("PYTHONPATH") if self.is_me else None
        return os.pathsep.join(filter(None, (str(self.source), inherited)))

    @property
    def is_me(self) -> bool:
        return self.uid == os.geteuid()


def myself() -> Person:
    return Person(name="me", uid=os.geteuid(), gid=os.getegid())


@dataclass(kw_only=True)
class User:
    """A process that uses the server of a home until it is told to leave, or killed."""

    process: subprocess.Popen[bytes]
    home: Path
    said: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def begin(
        cls,
        home: Path,
        *,
        person: Person | None = None,
        through: tuple[str, ...] = (),
        **options: Any,
    ) -> Self:
        """Start the process, perhaps through another program; `arrive` waits for what it says."""
        person = person or myself()
        if person.binaries is not None:
            options.setdefault("binaries", str(person.binaries))
        wish = json.dumps({"home": str(home)} | options)
        process = subprocess.Popen(
            [*through, person.python, str(person.program), wish],
            cwd="/",
            env={"PATH": os.environ["PATH"], "PYTHONPATH": person.search_path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            user=None if person.is_me else person.uid,
            group=None if person.is_me else person.gid,
            extra_groups=None if person.is_me else (),
        )
        return cls(process=process, home=home)

    def arrive(self) -> Self:
        assert self.process.stdout is not None
        self.said = json.loads(self.process.stdout.readline())
        return self

    @property
    def url(self) -> str:
        return str(self.said["url"])

    @property
    def failure(self) -> str:
        return str(self.said["failed"])

    def leave(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """Kill it if need be and close its pipes."""
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()


def keeper_of(home: Path) -> int:
    """Find the keeper by its command line, which names the home."""
    for folder in PROC.iterdir():
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if KEEPER in words and json.loads(words[words.index(KEEPER) + 1])["home"] == str(home):
                return int(folder.name)
    raise LookupError(home)


def postmaster_of(home: Path) -> int:
    return int((home / "data" / "postmaster.pid").read_text().splitlines()[0])


@contextlib.contextmanager
def innocent(uid: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process of some user that has nothing to do with us."""
    with subprocess.Popen(["sleep", "600"], user=uid if os.geteuid() == 0 else None) as process:
        try:
            yield process
        finally:
            process.kill()


def kill(*numbers: int) -> None:
    """Kill processes all at once, and wait until they are dead; a zombie is.

    One that ended by itself meanwhile (a server whose folder is gone does) needs no killing.
    """
    held = []
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            held.append(os.pidfd_open(number))
    for process in held:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(process, signal.SIGKILL)
    for process in held:
        select.select([process], [], [])
        os.close(process)


def main() -> None:
    """Use a server: say where it is or why it is not, and stay until standard input closes."""
    from rota.core.errors import RotaError  # noqa: PLC0415  (only the child needs them)
    from rota.store.embedded import EmbeddedOptions, start  # noqa: PLC0415

    wish = json.loads(sys.argv[1])
    home, durable = Path(wish.pop("home")), wish.pop("durable", True)
    if "binaries" in wish:
        wish["binaries"] = Path(wish["binaries"])
    try:
        with start(home, durable=durable, options=EmbeddedOptions(**wish)) as server:
            answer = {"url": server.url, "tcp_url": server.tcp_url, "version": server.version}
            print(json.dumps(answer), flush=True)  # noqa: T201
            sys.stdin.read()
    except RotaError as error:
        print(json.dumps({"failed": str(error)}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
