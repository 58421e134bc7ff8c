"""Brokers for tests: servers of Redis and NATS in a folder, and a Kafka.

The servers are the system's; `tools/system_packages.py` installs them where it may. Kafka is the
one that librdkafka brings for such tests: it speaks the protocol over real sockets, keeps records
and offsets of groups, and lives as long as the client that began it.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Producer

PLACES = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin"
DEADLINE = 30.0


@dataclass(frozen=True, kw_only=True)
class Redis:
    socket: Path

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"


@dataclass(frozen=True, kw_only=True)
class Nats:
    url: str
    pid: int

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop the server's process while inside, as a machine without a free processor would."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            wait_until_stopped(self.pid)
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)


@dataclass(frozen=True, kw_only=True)
class Kafka:
    producer: Producer
    servers: str


@contextlib.contextmanager
def redis_in(folder: Path) -> Iterator[Redis]:
    path = folder / "s"
    arguments = ["--port", "0", "--unixsocket", str(path), "--save", "", "--dir", str(folder)]
    with running(folder, "redis-server", *arguments) as process:
        wait_for(process, lambda: answers(path))
        yield Redis(socket=path)


@contextlib.contextmanager
def nats_in(folder: Path) -> Iterator[Nats]:
    """It takes a free port and writes it to a file."""
    settings = folder / "nats.conf"
    settings.write_text(
        f'listen: "127.0.0.1:-1"\nports_file_dir: "{folder}"\n'
        f'jetstream {{ store_dir: "{folder / "store"}" }}\n'
    )
    with running(folder, "nats-server", "-c", str(settings)) as process:
        wait_for(process, lambda: any(folder.glob("*.ports")))
        (told,) = folder.glob("*.ports")
        yield Nats(url=json.loads(told.read_text())["nats"][0], pid=process.pid)


@contextlib.contextmanager
def kafka() -> Iterator[Kafka]:
    producer = Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1, "log_level": 2})
    brokers = producer.list_topics(timeout=DEADLINE).brokers.values()
    yield Kafka(producer=producer, servers=",".join(f"{each.host}:{each.port}" for each in brokers))
    producer.flush(1)


@contextlib.contextmanager
def running(folder: Path, name: str, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    program = shutil.which(name) or shutil.which(name, path=PLACES)
    assert program, f"the tests need {name}: run `python3 tools/system_packages.py`"
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([program, *arguments], stdout=log, stderr=log, cwd=folder)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for(process: "subprocess.Popen[bytes]", is_up: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not is_up():
        assert process.poll() is None, "it ended at once; its log is in its folder"
        assert time.monotonic() < end, "it does not answer"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.02)


def wait_until_stopped(pid: int) -> None:
    """Wait until every thread of a process obeyed SIGSTOP, which the kernel delivers to each."""
    end = time.monotonic() + DEADLINE
    tasks = Path(f"/proc/{pid}/task")
    while {state_of_thread(task) for task in tasks.iterdir()} != {"T"}:
        assert time.monotonic() < end, "the process did not stop"
        os.sched_yield()


def state_of_thread(task: Path) -> str:
    """Return the letter of a thread's state; a thread that just ended counts as stopped."""
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "T"


def answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0
