"""A real standby: a copy of a stopped server, told to stay in recovery."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import asyncpg

from rota.store.embedded import Embedded, start

PATIENCE_S = 60.0
LOOK_INTERVAL_S = 0.05


class Pair(NamedTuple):
    primary: Embedded
    standby: Embedded


@contextmanager
def primary_and_standby(*, durable: bool = False) -> Iterator[Pair]:
    """Two servers with the same role and password. The standby takes reads, and may be promoted."""
    with TemporaryDirectory(prefix="rota-pair-") as folder:
        Path(folder).chmod(0o755)
        first, second = Path(folder) / "first", Path(folder) / "second"
        with start(first, durable=durable):
            pass
        wait_until_stopped(first)
        subprocess.run(["cp", "-a", first, second], check=True)
        keep_in_recovery(second / "data")
        with (
            start(first, durable=durable) as primary,
            start(second, durable=durable) as standby,
        ):
            yield Pair(primary, standby)


async def promote(standby: Embedded) -> None:
    """Let it take writes. Not by a connection of ours, which refuse a standby."""
    conn = await asyncpg.connect(standby.tcp_url)
    assert await conn.fetchval("select pg_promote()")
    await conn.close()


def wait_until_stopped(home: Path) -> None:
    rest = threading.Event()
    for _ in range(round(PATIENCE_S / LOOK_INTERVAL_S)):
        if not (home / "data" / "postmaster.pid").exists():
            return
        rest.wait(LOOK_INTERVAL_S)
    raise AssertionError("the server never stopped")


def keep_in_recovery(data: Path) -> None:
    signal = data / "standby.signal"
    signal.touch()
    owner = data.stat()
    os.chown(signal, owner.st_uid, owner.st_gid)
