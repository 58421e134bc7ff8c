"""Hints between processes: LISTEN and NOTIFY, and nothing that anybody relies on. Room: store.

A hint shortens a wait; whoever waits also polls. They are given outside the transactions that they
are about, so a hint may come before its rows are visible to nobody: the giver has committed.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from rota.store.driver import Connection
from rota.store.fitness import database_time
from rota.store.statement import statement
from rota.store.translate import translated

# Waiting runs appeared; jobs were written or edited; runs were asked to cancel; graph runs have
# marks that no worker left, for example because somebody resumed them.
RUNS: Final = "rota_runs"
JOBS: Final = "rota_jobs"
CANCELS: Final = "rota_cancels"
MARKS: Final = "rota_marks"


class Sent(NamedTuple):
    sent: str | None


GIVE = statement("hints/give", Sent)


async def give(conn: Connection, channel: str) -> None:
    await GIVE.one(conn, channel=channel, payload="")


async def check(conn: Connection) -> None:
    """Raise `StoreUnavailable` if nobody is there any more."""
    await database_time(conn)


async def listen(conn: Connection, channels: tuple[str, ...], heard: Callable[[str], None]) -> None:
    """Call `heard` with the channel of each hint, as long as the connection lives."""

    def on_hint(_conn: object, _pid: int, channel: str, _payload: str) -> None:
        heard(channel)

    with translated(conn):
        for channel in channels:
            await conn.add_listener(channel, on_hint)
