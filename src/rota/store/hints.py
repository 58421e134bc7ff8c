"""Sends hints between processes with LISTEN and NOTIFY. Correctness never depends on a hint.

A hint shortens a wait; every receiver also polls. Senders commit first and send the hint
afterwards, so the rows that a hint announces are always visible.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from rota.store.driver import Connection
from rota.store.error_translation import translate_errors
from rota.store.pool import read_database_time
from rota.store.statement import statement

# Waiting runs appeared; jobs were created or edited; runs were asked to cancel; graph runs have
# step completions that no worker inserted, for example because a user resumed the graph run.
RUNS_CHANNEL: Final = "rota_runs"
JOBS_CHANNEL: Final = "rota_jobs"
CANCELS_CHANNEL: Final = "rota_cancels"
STEP_COMPLETIONS_CHANNEL: Final = "rota_marks"


class SentHint(NamedTuple):
    sent: str | None


SEND_HINT = statement("hints/send", SentHint)


async def send_hint(conn: Connection, channel: str) -> None:
    await SEND_HINT.one(conn, channel=channel, payload="")


async def check_connection(conn: Connection) -> None:
    """Raise `StoreUnavailable` if the server is gone."""
    await read_database_time(conn)


async def listen(
    conn: Connection, channels: tuple[str, ...], on_hint_channel: Callable[[str], None]
) -> None:
    """Call `heard` with the channel of each hint for as long as the connection lives."""

    def on_hint(_conn: object, _pid: int, channel: str, _payload: str) -> None:
        on_hint_channel(channel)

    with translate_errors(conn):
        for channel in channels:
            await conn.add_listener(channel, on_hint)
