"""`rota status`: what runs, what waits, what ended lately. Room: cli."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rota.cli.output import say
from rota.cli.settings import settings_for
from rota.config.settings import Settings
from rota.core.time.durations import words
from rota.node.database import open_database
from rota.store.overview import Overview, overview
from rota.store.pool import open_connection

SECOND = timedelta(seconds=1)


def status(*, json: bool = False, data: Path | None = None, config: Path | None = None) -> int:
    """Show the processes, the queues, the jobs, and how runs ended in the last five minutes.

    Parameters
    ----------
    json
        Print one JSON object instead of tables.
    data
        Folder of the embedded database (default: .rota in the current folder).
    config
        Settings file (default: rota.toml here, then /etc/rota/rota.toml).
    """
    settings = settings_for(data=data, config=config)
    seen = asyncio.run(look(settings))
    say(as_json(seen) if json else "\n".join(as_text(seen)))
    return 0


async def look(settings: Settings) -> Overview:
    async with (
        open_database(settings.database, name="rota status") as database,
        open_connection(database.access) as conn,
    ):
        return await overview(conn)


def as_json(seen: Overview) -> str:
    shown: dict[str, Any] = {"now": seen.now}
    for name in ("nodes", "queues", "jobs", "ended"):
        shown[name] = [row._asdict() for row in getattr(seen, name)]
    return json.dumps(shown, default=str)


def as_text(seen: Overview) -> Iterator[str]:
    """Tables for people."""
    yield from table(
        ("PROCESS", "NAME", "UP", "LAST BEAT", "SHARDS", "SLOTS", "RUNNING"),
        [
            (
                node.role.value + (" (draining)" if node.draining else ""),
                node.name,
                ago(node.started_at, seen.now),
                ago(node.beat_at, seen.now),
                node.shards or "",
                node.slots or "",
                node.running if node.slots else "",
            )
            for node in seen.nodes
        ],
        empty="no process is running; `rota up` starts one",
    )
    yield ""
    yield from table(
        ("QUEUE", "READY", "LATER", "RUNNING", "OLDEST"),
        [
            (
                queue.name + (" (paused)" if queue.is_paused else ""),
                queue.ready,
                queue.later,
                queue.running,
                ago(queue.oldest_at, seen.now) if queue.oldest_at else "",
            )
            for queue in seen.queues
        ],
        empty="there are no queues",
    )
    yield ""
    yield from table(
        ("JOBS", "NUMBER", "NEXT FIRE"),
        [
            (jobs.state.value, jobs.number, until(jobs.next_at, seen.now) if jobs.next_at else "")
            for jobs in seen.jobs
        ],
        empty="there are no jobs; `rota up --demo` makes some to look at",
    )
    yield ""
    yield from table(
        ("ENDED (5 MIN)", "NUMBER"),
        [(ended.state.value, ended.number) for ended in seen.ended],
        empty="no run ended in the last five minutes",
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> Iterator[str]:
    texts = [[str(cell) for cell in row] for row in rows]
    if not texts:
        yield empty
        return
    widths = [max(map(len, column)) for column in zip(head, *texts, strict=True)]
    for row in (head, *texts):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def ago(then: datetime, now: datetime) -> str:
    return words(max(SECOND * 0, (now - then) // SECOND * SECOND))


def until(then: datetime, now: datetime) -> str:
    return f"in {ago(now, then)}" if then > now else "now"
