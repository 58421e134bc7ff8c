"""`rota calendars`: holidays and freezes that schedules go by. Room: cli."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App

from rota.cli import times
from rota.cli.asking import confirm
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import TALK, YES, Talk, write_json
from rota.cli.reading import document_of, file_text
from rota.cli.tables import Column
from rota.contract.calendar import write_calendar
from rota.contract.ics import from_ics
from rota.core.errors import InvalidInput

app = App(name="calendars", help="Calendars: list, show, write, delete.")


@app.command(name="list")
def list_calendars(*, most: Most = SOME, talk: Talk = TALK) -> int:
    """List calendars by name."""
    with talk.open() as client:
        found = gather(client.list_calendars, most=most)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("NAME", lambda each: each.name, flexible=True),
        Column("ZONE", lambda each: each.calendar.get("timezone")),
        Column("ENTRIES", entries, right=True),
        Column("VERSION", lambda each: each.version, right=True),
        Column("WRITTEN", lambda each: times.ago(each.updated_at, now)),
    ]
    talk.rows(found.rows, columns, ids="name", empty="there are no calendars")
    tell_more(found, talk)
    return 0


def entries(each: Any) -> int:
    return sum(len(value) for value in each.calendar.values() if isinstance(value, list))


@app.command
def show(name: str, /, *, talk: Talk = TALK) -> int:
    """Show a calendar, in the form in which it is written.

    Parameters
    ----------
    name
        Its name.
    """
    with talk.open() as client:
        found = client.get_calendar(name)
    if talk.is_plain:
        write_json(found.calendar)
    else:
        talk.thing(found, [], ids="name")
    return 0


@app.command
def put(
    name: str,
    file: str,
    /,
    *,
    tz: str | None = None,
    if_version: int | None = None,
    talk: Talk = TALK,
) -> int:
    """Make the calendar of this name, or replace it; jobs that go by it follow.

    Parameters
    ----------
    name
        Its name.
    file
        JSON or YAML as in docs/reference/schedules.md, or an .ics file; - is JSON on standard
        input.
    tz
        Zone of an .ics file (default: UTC).
    if_version
        Only if it still has this version.
    """
    calendar = calendar_in(file, name=name, tz=tz)
    with talk.open() as client:
        done = client.put_calendar(name, calendar=calendar, **said(if_match=if_version))
    talk.done(done, f"the calendar {done.name} has version {done.version}", id_=done.name)
    return 0


def calendar_in(file: str, *, name: str, tz: str | None) -> dict[str, Any]:
    if file.endswith(".ics"):
        text = file_text(Path(file), field="file")
        return dict(write_calendar(from_ics(text, name=name, timezone=tz or "UTC")))
    if tz is not None:
        raise InvalidInput("--tz", tz, "an .ics file; others say their zone themselves")
    found = document_of(file, field="file")
    if not isinstance(found, dict):
        raise InvalidInput("file", file, "a calendar, which is an object")
    return found


@app.command
def delete(name: str, /, *, yes: Annotated[bool, YES] = False, talk: Talk = TALK) -> int:
    """Delete a calendar that no job goes by.

    Parameters
    ----------
    name
        Its name.
    yes
        Do not ask.
    """
    with talk.open() as client:
        if not confirm(f"Delete the calendar {name}?", yes=yes):
            return 1
        client.delete_calendar(name)
    talk.done({"name": name}, f"the calendar {name} was deleted", id_=name)
    return 0


# Whoever thinks of one calendar says it so.
alias = App(name="calendar", help="The same as `rota calendars`.")
alias.command(list_calendars, name="list")
for each in (show, put, delete):
    alias.command(each)
