"""`rota open` logs in to the dashboard; `rota load` counts upcoming ticks."""

import contextlib
import html
import os
import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cyclopts import Parameter

from rota.cli import times
from rota.cli.api_options import DEFAULT_API_OPTIONS, ApiOptions
from rota.cli.tables import TableColumn
from rota.runtime.clock import SystemClock

REDIRECT_PREFIX: Final = "rota-open-"
TICKET_LIFETIME_S: Final = 60
REDIRECT: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={link}">
<title>Rota</title>
</head>
<body><p><a href="{link}">Log in to Rota</a></p></body>
</html>
"""


def open_dashboard(
    *,
    only_print: Annotated[bool, Parameter(name="--print", negative=())] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Log in to the dashboard: print a one-time link, valid for a minute, and open it.

    Parameters
    ----------
    only_print
        Print the link without opening it, for a browser on another machine.
    """
    with api_options.open_client() as client:
        ticket = client.create_login_ticket()
        link = f"{client.url}{ticket.path}"
    api_options.print_result(ticket, link, id_=link)
    if api_options.is_plain and not only_print:
        webbrowser.open(write_redirect(link).as_uri())
    return 0


def write_redirect(link: str) -> Path:
    """Write a page that redirects to the link, in a file that only this user can read.

    Every user of the machine can read a browser's arguments in the process list, so the browser
    gets the path of this file instead of the link. The ticket works once and for a minute; files of
    earlier calls are removed.
    """
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    oldest = SystemClock().now().timestamp() - TICKET_LIFETIME_S
    for file in folder.glob(f"{REDIRECT_PREFIX}*"):
        with contextlib.suppress(OSError):
            if file.lstat().st_mtime < oldest and file.lstat().st_uid == os.geteuid():
                file.unlink()
    # mkstemp creates the file with mode 0600.
    descriptor, name = tempfile.mkstemp(prefix=REDIRECT_PREFIX, suffix=".html", dir=folder)
    with os.fdopen(descriptor, "w", encoding="utf-8") as page:
        page.write(REDIRECT.format(link=html.escape(link)))
    return Path(name)


def load(
    *,
    since: str | None = None,
    until: str | None = None,
    bucket: Literal["minute", "hour"] = "hour",
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Show the number of upcoming ticks of all jobs per hour or minute.

    Parameters
    ----------
    since
        Start of the range. Default: now.
    until
        End of the range, at most 35 days after the start. Default: one day after the start.
    bucket
        Size of a bucket. Default: hour.
    """
    with api_options.open_client() as client:
        found = client.get_load(
            since=times.parse_time(since, field="--since"),
            until=times.parse_time(until, field="--until"),
            bucket=bucket,
        )
    now = times.now()
    peak = max((bucket.ticks for bucket in found.buckets), default=1)
    columns: list[TableColumn[Any]] = [
        TableColumn("FROM", lambda each: times.format_time(each.start, now)),
        TableColumn("TICKS", lambda each: each.ticks, right=True),
        TableColumn("", lambda each: "▇" * max(1, round(30 * each.ticks / peak))),
    ]
    empty = "No ticks in this range"
    api_options.print_rows(found.buckets, columns, ids="start", empty=empty)
    return 0
