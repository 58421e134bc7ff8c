"""`rota open`, `rota load`: the dashboard, and what will fire when. Room: cli."""

import webbrowser
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from rota.cli import times
from rota.cli.options import TALK, Talk
from rota.cli.tables import Column


def open_dashboard(
    *,
    only_print: Annotated[bool, Parameter(name="--print", negative=())] = False,
    talk: Talk = TALK,
) -> int:
    """Log in at the dashboard: print a link that works once and for a minute, and open it.

    Parameters
    ----------
    only_print
        Open nothing, for a browser on another machine.
    """
    with talk.open() as client:
        made = client.create_login_ticket()
        link = f"{client.url}{made.path}"
    talk.done(made, link, id_=link)
    if talk.is_plain and not only_print:
        webbrowser.open(link)
    return 0


def load(
    *,
    since: str | None = None,
    until: str | None = None,
    bucket: Literal["minute", "hour"] = "hour",
    talk: Talk = TALK,
) -> int:
    """Show how many ticks of all jobs fall into each hour to come.

    Parameters
    ----------
    since
        From when on (default: now).
    until
        Until when (default: a day later; 35 days at most).
    bucket
        By minutes or by hours.
    """
    with talk.open() as client:
        found = client.get_load(
            since=times.instant(since, field="--since"),
            until=times.instant(until, field="--until"),
            bucket=bucket,
        )
    now = times.now()
    most = max((each.ticks for each in found.buckets), default=1)
    columns: list[Column[Any]] = [
        Column("FROM", lambda each: times.at(each.start, now)),
        Column("TICKS", lambda each: each.ticks, right=True),
        Column("", lambda each: "▇" * max(1, round(30 * each.ticks / most))),
    ]
    empty = "nothing is due in this time"
    talk.rows(found.buckets, columns, ids="start", empty=empty)
    return 0
