"""`rota sources`: lists the event sources with position, lag and errors."""

from typing import Any

from cyclopts import App

from rota.cli import times
from rota.cli.api_options import DEFAULT_API_OPTIONS, ApiOptions
from rota.cli.tables import TableColumn

app = App(name="sources", help="Event sources: position, lag, errors.")


@app.command(name="list")
def list_sources(*, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """List the event sources with reader, position, lag and last error."""
    with api_options.open_client() as client:
        found = client.list_sources().items
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("SOURCE", lambda each: each.name, flexible=True),
        TableColumn("KIND", lambda each: each.kind),
        TableColumn("STATUS", lambda each: each.state, mood=True),
        TableColumn("ACCEPTED", lambda each: each.taken, right=True),
        TableColumn("REJECTED", lambda each: each.refused, right=True),
        TableColumn("LAG", lambda each: "?" if each.lag is None else each.lag, right=True),
        TableColumn("LAST EVENT", lambda each: times.format_relative(each.taken_at, now)),
        TableColumn("READER", lambda each: each.reader, flexible=True),
        TableColumn("POSITION", lambda each: shorten_position(each.position), flexible=True),
        TableColumn("ERROR", get_error, flexible=True),
    ]
    empty = "No event sources; see docs/howto/event-sources.md to set one up"
    api_options.print_rows(found, columns, ids="name", empty=empty)
    return 0


def shorten_position(position: str | None) -> str:
    """Shorten a position; `--json` shows it in full."""
    text = position or ""
    return text if len(text) <= 40 else f"{text[:39]}…"


def get_error(source: Any) -> str:
    """Return the last error of a source."""
    return str(source.error or "")
