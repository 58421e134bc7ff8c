"""`rota calendars`: manages holidays and freezes that schedules follow."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App

from rota.cli import times
from rota.cli.api_options import DEFAULT_API_OPTIONS, YES_FLAG, ApiOptions, print_json
from rota.cli.argument_values import read_document, read_file
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.prompts import confirm
from rota.cli.tables import TableColumn
from rota.contract.calendar import write_calendar
from rota.contract.ics import read_ics
from rota.core.errors import InvalidInput

app = App(name="calendars", help="Calendars: list, show, put, delete.")


@app.command(name="list")
def list_calendars(
    *, row_limit: ListLimit = DEFAULT_LIMIT, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """List calendars by name."""
    with api_options.open_client() as client:
        found = list_rows(client.list_calendars, row_limit=row_limit)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("NAME", lambda each: each.name, flexible=True),
        TableColumn("ZONE", lambda each: each.calendar.get("timezone")),
        TableColumn("ENTRIES", count_entries, right=True),
        TableColumn("VERSION", lambda each: each.version, right=True),
        TableColumn("UPDATED", lambda each: times.format_relative(each.updated_at, now)),
    ]
    api_options.print_rows(found.rows, columns, ids="name", empty="No calendars")
    print_more_hint(found, api_options)
    return 0


def count_entries(calendar: Any) -> int:
    return sum(len(value) for value in calendar.calendar.values() if isinstance(value, list))


@app.command
def show(name: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show a calendar as JSON, as `rota calendars put` accepts it.

    Parameters
    ----------
    name
        Calendar name.
    """
    with api_options.open_client() as client:
        found = client.get_calendar(name)
    if api_options.is_plain:
        print_json(found.calendar)
    else:
        api_options.print_record(found, [], ids="name")
    return 0


@app.command
def put(
    name: str,
    file: str,
    /,
    *,
    tz: str | None = None,
    if_version: int | None = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
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
    calendar = read_calendar_file(file, name=name, tz=tz)
    with api_options.open_client() as client:
        done = client.put_calendar(name, calendar=calendar, **drop_empty(if_match=if_version))
    api_options.print_result(
        done, f"Saved calendar {done.name}, version {done.version}", id_=done.name
    )
    return 0


def read_calendar_file(file: str, *, name: str, tz: str | None) -> dict[str, Any]:
    if file.endswith(".ics"):
        text = read_file(Path(file), field="file")
        return dict(write_calendar(read_ics(text, name=name, timezone=tz or "UTC")))
    if tz is not None:
        raise InvalidInput(
            "--tz", tz, "only valid for an .ics file; set `timezone` in the calendar instead"
        )
    found = read_document(file, field="file")
    if not isinstance(found, dict):
        raise InvalidInput("file", file, "expected a calendar, which is an object")
    return found


@app.command
def delete(
    name: str,
    /,
    *,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Delete a calendar. Fails if a job uses it.

    Parameters
    ----------
    name
        Calendar name.
    yes
        Skip the confirmation.
    """
    with api_options.open_client() as client:
        if not confirm(f"Delete calendar {name}?", yes=yes):
            return 1
        client.delete_calendar(name)
    api_options.print_result({"name": name}, f"Deleted calendar {name}", id_=name)
    return 0


alias = App(name="calendar", help="Alias of `rota calendars`.")
alias.command(list_calendars, name="list")
for command in (show, put, delete):
    alias.command(command)
