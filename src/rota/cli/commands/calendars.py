"""`rota calendars`: manages holidays and freezes that schedules follow."""

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
from rota.contract.ics import read_ics
from rota.core.errors import InvalidInput

app = App(name="calendars", help="Calendars: list, show, put, delete.")


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
        Column("UPDATED", lambda each: times.ago(each.updated_at, now)),
    ]
    talk.rows(found.rows, columns, ids="name", empty="No calendars")
    tell_more(found, talk)
    return 0


def entries(each: Any) -> int:
    return sum(len(value) for value in each.calendar.values() if isinstance(value, list))


@app.command
def show(name: str, /, *, talk: Talk = TALK) -> int:
    """Show a calendar as JSON, as `rota calendars put` accepts it.

    Parameters
    ----------
    name
        Calendar name.
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
    """Create or replace a calendar. Jobs that use it follow the new one.

    Parameters
    ----------
    name
        Calendar name.
    file
        File in JSON or YAML as described in docs/reference/schedules.md, or an .ics file; - reads
        JSON from standard input.
    tz
        Time zone of an .ics file. Default: UTC.
    if_version
        Fail if the current version is different. Default: any version.
    """
    calendar = calendar_in(file, name=name, tz=tz)
    with talk.open() as client:
        done = client.put_calendar(name, calendar=calendar, **said(if_match=if_version))
    talk.done(done, f"Saved calendar {done.name}, version {done.version}", id_=done.name)
    return 0


def calendar_in(file: str, *, name: str, tz: str | None) -> dict[str, Any]:
    if file.endswith(".ics"):
        text = file_text(Path(file), field="file")
        return dict(write_calendar(read_ics(text, name=name, timezone=tz or "UTC")))
    if tz is not None:
        raise InvalidInput(
            "--tz", tz, "only valid for an .ics file; set `timezone` in the calendar instead"
        )
    found = document_of(file, field="file")
    if not isinstance(found, dict):
        raise InvalidInput("file", file, "expected a calendar, which is an object")
    return found


@app.command
def delete(name: str, /, *, yes: Annotated[bool, YES] = False, talk: Talk = TALK) -> int:
    """Delete a calendar. Fails if a job uses it.

    Parameters
    ----------
    name
        Calendar name.
    yes
        Skip the confirmation.
    """
    with talk.open() as client:
        if not confirm(f"Delete calendar {name}?", yes=yes):
            return 1
        client.delete_calendar(name)
    talk.done({"name": name}, f"Deleted calendar {name}", id_=name)
    return 0


alias = App(name="calendar", help="Alias of `rota calendars`.")
alias.command(list_calendars, name="list")
for command in (show, put, delete):
    alias.command(command)
