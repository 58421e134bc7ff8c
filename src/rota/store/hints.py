"""Sends hints between processes with LISTEN and NOTIFY. Correctness never depends on a hint.

A hint shortens a wait; every receiver also polls. Senders commit first and send the hint
afterwards, so the rows that a hint announces are always visible.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from rota.store.driver import Connection
from rota.store.fitness import database_time
from rota.store.statement import statement
from rota.store.translate import translated

# Waiting runs appeared; jobs were created or edited; runs were asked to cancel; graph runs have
# step completions that no worker inserted, for example because a user resumed the graph run.
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
    """Raise `StoreUnavailable` if the server is gone."""
    await database_time(conn)


async def listen(conn: Connection, channels: tuple[str, ...], heard: Callable[[str], None]) -> None:
    """Call `heard` with the channel of each hint for as long as the connection lives."""

    def on_hint(_conn: object, _pid: int, channel: str, _payload: str) -> None:
        heard(channel)

    with translated(conn):
        for channel in channels:
            await conn.add_listener(channel, on_hint)
