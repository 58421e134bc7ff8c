"""What a schedule will do, on the terminal. Room: cli."""

from collections.abc import Iterator
from typing import Any

from rota.cli.options import Talk, write, write_json
from rota.cli.tables import Column, screen_of, table
from rota.cli.tables import shown as shown_cell


def show_preview(shown: Any, talk: Talk, *, viewer: str | None = None) -> None:
    """A preview as the API answers it; `rota next` makes the same shape."""
    if talk.as_json:
        write_json(shown)
    elif talk.quiet:
        write(shown_cell(each.due_at) for each in shown.upcoming)
    else:
        write(lines(shown, viewer=viewer))


def lines(shown: Any, *, viewer: str | None) -> Iterator[str]:
    yield shown.sentence
    yield ""
    columns: list[Column[Any]] = [
        Column("LOCAL TIME", lambda each: clock(each.local)),
        Column("UTC", lambda each: each.at),
    ]
    if any(each.due_at != each.at for each in shown.upcoming):
        columns.append(Column("STARTS", lambda each: each.due_at))
    if viewer is not None:
        columns.append(Column(viewer.upper(), lambda each: clock(each.viewed)))
    if any(each.notes for each in shown.upcoming):
        columns.append(Column("NOTE", lambda each: "; ".join(each.notes), flexible=True))
    if shown.upcoming:
        yield from table(columns, shown.upcoming, screen_of())
    else:
        yield "it has no time to come"
    if shown.warnings:
        yield ""
    for each in shown.warnings:
        yield f"note: {each.detail}"


def clock(local: object) -> str:
    """A local time, as a clock and a calendar on the wall show it."""
    return str(local).replace("T", " ")
