"""`rota status`: what runs, what waits, what ended lately, from the database itself. Room: cli."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rota.cli import times
from rota.cli.options import write
from rota.cli.output import say
from rota.cli.settings import settings_for
from rota.cli.tables import Column, screen_of, table
from rota.config.settings import Settings
from rota.node.database import open_database
from rota.store.overview import Overview, overview
from rota.store.pool import open_connection


def status(*, json: bool = False, data: Path | None = None, config: Path | None = None) -> int:
    """Show the processes, the queues, the jobs, and how runs ended in the last five minutes.

    Asks the database and not the API, so it needs no key and shows all tenants.

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
    if json:
        say(as_json(seen))
    else:
        write(as_text(seen))
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
    nothing = "no process is running; `rota up` starts one"
    yield from section(node_columns(seen.now), seen.nodes, empty=nothing)
    yield ""
    yield from section(queue_columns(seen.now), seen.queues, empty="there are no queues")
    yield ""
    jobs: list[Column[Any]] = [
        Column("JOBS", lambda jobs: jobs.state.value, mood=True),
        Column("NUMBER", lambda jobs: jobs.number, right=True),
        Column("NEXT FIRE", lambda jobs: times.ago(jobs.next_at, seen.now)),
    ]
    nothing = "there are no jobs; `rota up --demo` makes some to look at"
    yield from section(jobs, seen.jobs, empty=nothing)
    yield ""
    ended: list[Column[Any]] = [
        Column("ENDED (5 MIN)", lambda ended: ended.state.value, mood=True),
        Column("NUMBER", lambda ended: ended.number, right=True),
    ]
    yield from section(ended, seen.ended, empty="no run ended in the last five minutes")


def section(columns: Sequence[Column[Any]], rows: Sequence[Any], *, empty: str) -> Iterator[str]:
    if rows:
        yield from table(columns, rows, screen_of())
    else:
        yield empty


def node_columns(now: datetime) -> list[Column[Any]]:
    return [
        Column("PROCESS", lambda node: node.role.value + (" (draining)" if node.draining else "")),
        Column("NAME", lambda node: node.name, flexible=True),
        Column("UP", lambda node: times.since(node.started_at, now), right=True),
        Column("LAST BEAT", lambda node: times.ago(node.beat_at, now)),
        Column("SHARDS", lambda node: node.shards or "", right=True),
        Column("SLOTS", lambda node: node.slots or "", right=True),
        Column("RUNNING", lambda node: node.running if node.slots else "", right=True),
    ]


def queue_columns(now: datetime) -> list[Column[Any]]:
    return [
        Column("QUEUE", lambda queue: queue.name, flexible=True),
        Column("STATUS", lambda queue: "paused" if queue.is_paused else "active", mood=True),
        Column("READY", lambda queue: queue.ready, right=True),
        Column("LATER", lambda queue: queue.later, right=True),
        Column("RUNNING", lambda queue: queue.running, right=True),
        Column("OLDEST", lambda queue: times.since(queue.oldest_at, now), right=True),
    ]
