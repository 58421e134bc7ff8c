"""`rota sources`: lists the event sources with position, lag and errors."""

from typing import Any

from cyclopts import App

from rota.cli import times
from rota.cli.options import TALK, Talk
from rota.cli.tables import Column

app = App(name="sources", help="Event sources: position, lag, errors.")


@app.command(name="list")
def list_sources(*, talk: Talk = TALK) -> int:
    """List the event sources with reader, position, lag and last error."""
    with talk.open() as client:
        found = client.list_sources().items
    now = times.now()
    columns: list[Column[Any]] = [
        Column("SOURCE", lambda each: each.name, flexible=True),
        Column("KIND", lambda each: each.kind),
        Column("STATUS", lambda each: each.state, mood=True),
        Column("ACCEPTED", lambda each: each.taken, right=True),
        Column("REJECTED", lambda each: each.refused, right=True),
        Column("LAG", lambda each: "?" if each.lag is None else each.lag, right=True),
        Column("LAST EVENT", lambda each: times.ago(each.taken_at, now)),
        Column("READER", lambda each: each.reader, flexible=True),
        Column("POSITION", lambda each: short(each.position), flexible=True),
        Column("ERROR", error_told, flexible=True),
    ]
    empty = "No event sources; see docs/howto/event-sources.md to set one up"
    talk.rows(found, columns, ids="name", empty=empty)
    return 0


def short(position: str | None) -> str:
    """Shorten a position; `--json` shows it in full."""
    text = position or ""
    return text if len(text) <= 40 else f"{text[:39]}…"


def error_told(source: Any) -> str:
    """Return the last error of a source."""
    return str(source.error or "")
