"""A real standby: a copy of a stopped server, told to stay in recovery."""

import asyncio
import os
import signal
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
        wait_until_stopped(first)
        wait_until_stopped(second)


async def promote(standby: Embedded) -> None:
    """Let it take writes, as `pg_ctl promote` does: its login is no superuser."""
    data = standby.home / "data"
    own(data / "promote")
    os.kill(int((data / "postmaster.pid").read_text().splitlines()[0]), signal.SIGUSR1)
    conn = await asyncpg.connect(standby.tcp_url)
    try:
        async with asyncio.timeout(PATIENCE_S):
            while await conn.fetchval("select pg_is_in_recovery()"):
                await conn.execute("select pg_sleep(0.05)")
    finally:
        await conn.close()


def wait_until_stopped(home: Path) -> None:
    rest = threading.Event()
    for _ in range(round(PATIENCE_S / LOOK_INTERVAL_S)):
        if not (home / "data" / "postmaster.pid").exists():
            return
        rest.wait(LOOK_INTERVAL_S)
    raise AssertionError("the server never stopped")


def keep_in_recovery(data: Path) -> None:
    own(data / "standby.signal")


def own(file: Path) -> None:
    """Make an empty file that belongs to the user of the server."""
    file.touch()
    owner = file.parent.stat()
    os.chown(file, owner.st_uid, owner.st_gid)
