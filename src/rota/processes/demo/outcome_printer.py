"""Prints the outcomes of the example jobs at the terminal.

A duty that polls for runs that ended since its last pass. It serves the demonstration only; real
monitoring uses the feed, the metrics and the API.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from rota.core.states import RunState
from rota.store.driver import ConnectionSource
from rota.store.overview import EndedRunSummary, read_latest
from rota.store.server_check import read_database_time

POLL_INTERVAL_S: Final = 1.0
MILLISECOND: Final = timedelta(milliseconds=1)


@dataclass(slots=True, kw_only=True)
class OutcomePrinter:
    source: ConnectionSource
    say: Callable[[str], object]
    name_prefix: str
    _since: datetime | None = None

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            if self._since is None:
                self._since = await read_database_time(conn)
            ended = await read_latest(conn, since=self._since)
        for run in ended:
            self._since = run.finished_at
            if run.name is not None and run.name.startswith(self.name_prefix):
                self.say(describe_outcome(run))
        return POLL_INTERVAL_S


def describe_outcome(run: EndedRunSummary) -> str:
    text = f"{run.finished_at.astimezone(UTC):%H:%M:%S} UTC  {run.name}  {run.state.value}"
    if run.started_at is not None:
        text += f" after {(run.finished_at - run.started_at) / MILLISECOND:.0f} ms"
    if run.attempt > 1:
        text += f", at attempt {run.attempt}"
    if run.state is not RunState.SUCCEEDED and run.reason:
        text += f": {run.reason}"
    return text
