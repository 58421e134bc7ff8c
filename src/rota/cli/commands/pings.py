"""`rota ping`: manages ping URLs for work that Rota does not run."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

from cyclopts import App, Parameter

from rota.cli import times
from rota.cli.api_options import DEFAULT_API_OPTIONS, YES_FLAG, ApiOptions, print_warnings
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.prompts import confirm
from rota.cli.tables import TableColumn
from rota.core.errors import NotFound

app = App(name="ping", help="Ping URLs of work outside of Rota: create, list, rotate, delete.")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedPings:
    """When successes are expected.

    Parameters
    ----------
    every
        How often a success is expected, such as 1d. Default: by --cron.
    cron
        Cron expression of the times at which a success is expected. Default: by --every.
    timezone
        Time zone of --cron. Default: UTC.
    grace
        How long a success may be late, and how long the work may take. Default: 1h.
    """

    every: str | None = None
    cron: str | None = None
    timezone: str | None = None
    grace: str | None = None


ANY_TIME: Final = ExpectedPings()


@app.command(name="list")
def list_pings(
    *, row_limit: ListLimit = DEFAULT_LIMIT, api_options: ApiOptions = DEFAULT_API_OPTIONS
) -> int:
    """List pings, without their URLs."""
    with api_options.open_client() as client:
        found = list_rows(client.list_pings, row_limit=row_limit)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("NAME", lambda ping: ping.name, flexible=True),
        TableColumn("STATE", lambda ping: ping.state),
        TableColumn("LAST PING", lambda ping: times.format_relative(ping.pinged_at, now)),
        TableColumn("LAST SUCCESS", lambda ping: times.format_relative(ping.succeeded_at, now)),
        TableColumn("OVERDUE AT", lambda ping: ping.overdue_at),
    ]
    api_options.print_rows(found.rows, columns, ids="ping_id", empty="No pings")
    print_more_hint(found, api_options)
    return 0


@app.command(alias="make")
def create(
    name: str,
    /,
    *,
    expected: ExpectedPings = ANY_TIME,
    to: str | None = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Create a ping and print its URL, which is shown only once.

    Append the URL to a crontab line: `backup && curl -fsS URL`. Append /start, /fail, /log or an
    exit code to report more than a success.

    Parameters
    ----------
    name
        Ping name; a job with this name shows the runs.
    to
        Route or channel of alerts. Default: the default channels.
    """
    alert = None if to is None else {"to": to}
    with api_options.open_client() as client:
        made = client.create_ping(
            name=name,
            **drop_empty(**asdict(expected), alert=alert),
        )
        base = client.url
    print_url(made, base, api_options)
    return 0


def print_url(ping: Any, base: str, api_options: ApiOptions) -> None:
    url = f"{base.rstrip('/')}{ping.ping_url}"
    api_options.print_result(ping, url, id_=url)
    if api_options.is_plain:
        print_warnings([f"Ping {ping.name}: store the URL safely, it is not shown again"])


@app.command
def show(name: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Show a ping: its state, schedule and last signals.

    Parameters
    ----------
    name
        Ping name or id.
    """
    with api_options.open_client() as client:
        ping = client.get_ping(find_ping_id(client, name))
    lines = [
        f"{field.replace('_', ' ')}: {value}"
        for field in ("name", "state", "schedule", "grace", "pinged_at", "succeeded_at")
        if (value := getattr(ping, field)) is not None
    ]
    if ping.failed_at is not None:
        lines.append(f"failed at: {ping.failed_at}")
    lines.append(f"overdue at: {ping.overdue_at or 'never'}")
    api_options.print_result(ping, "\n".join(lines), id_=ping.ping_id)
    return 0


@app.command
def rotate(name: str, /, *, api_options: ApiOptions = DEFAULT_API_OPTIONS) -> int:
    """Replace the URL of a ping and print the new one. The former URL stops working at once.

    Parameters
    ----------
    name
        Ping name or id.
    """
    with api_options.open_client() as client:
        made = client.rotate_ping(find_ping_id(client, name))
        base = client.url
    print_url(made, base, api_options)
    return 0


@app.command
def delete(
    name: str,
    /,
    *,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Delete a ping. Its URL stops working; its job and runs stay.

    Parameters
    ----------
    name
        Ping name or id.
    yes
        Skip the confirmation.
    """
    with api_options.open_client() as client:
        ping_id = find_ping_id(client, name)
        if not confirm(f"Delete ping {name}?", yes=yes):
            return 1
        client.delete_ping(ping_id)
    api_options.print_result({"ping_id": ping_id}, f"Deleted ping {name}", id_=ping_id)
    return 0


def find_ping_id(client: Any, name: str) -> str:
    """Return the id of a ping by its name or id."""
    for ping in list_rows(client.list_pings, row_limit=ListLimit(all_=True)).rows:
        if name in {ping.ping_id, ping.name}:
            return str(ping.ping_id)
    raise NotFound("ping", name)
