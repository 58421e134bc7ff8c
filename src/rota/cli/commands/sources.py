"""`rota sources`: where events come from, and how far they were read. Room: cli."""

from typing import Any

from cyclopts import App

from rota.cli import times
from rota.cli.options import TALK, Talk
from rota.cli.tables import Column

app = App(name="sources", help="Sources of events: how far they were read, and what is wrong.")


@app.command(name="list")
def list_sources(*, talk: Talk = TALK) -> int:
    """List the sources that events come from: who reads them, how far, and what went wrong last."""
    with talk.open() as client:
        found = client.list_sources().items
    now = times.now()
    columns: list[Column[Any]] = [
        Column("SOURCE", lambda each: each.name, flexible=True),
        Column("KIND", lambda each: each.kind),
        Column("STATUS", lambda each: each.state, mood=True),
        Column("TAKEN", lambda each: each.taken, right=True),
        Column("REFUSED", lambda each: each.refused, right=True),
        Column("LAG", lambda each: "?" if each.lag is None else each.lag, right=True),
        Column("LAST EVENT", lambda each: times.ago(each.taken_at, now)),
        Column("READER", lambda each: each.reader, flexible=True),
        Column("POSITION", lambda each: short(each.position), flexible=True),
        Column("ERROR", error_told, flexible=True),
    ]
    empty = "there are no sources; docs/howto/event-sources.md says how to set one up"
    talk.rows(found, columns, ids="name", empty=empty)
    return 0


def short(position: str | None) -> str:
    """Positions are texts of machines; `--json` shows all of one."""
    text = position or ""
    return text if len(text) <= 40 else f"{text[:39]}…"


def error_told(source: Any) -> str:
    """Of a source that fails, or that has refused something."""
    return str(source.error or "")
