"""`rota feed`: streams events of runs and jobs."""

from typing import Annotated, Any, Final

import msgspec
from cyclopts import Parameter
from cyclopts.validators import Number

from rota.cli.options import MANY, TALK, Talk
from rota.cli.tables import coloured, screen_of, shown

MOODS: Final = {"run.made": "waits", "run.started": "busy", "run.attempted": "waits"}
ENDINGS: Final = {"succeeded": "good", "dead": "bad", "lost": "bad", "quarantined": "bad"}


def feed(
    *,
    type_: Annotated[list[str] | None, Parameter(name="--type", negative=())] = None,
    job: Annotated[list[str] | None, MANY] = None,
    after: str | None = None,
    count: Annotated[int | None, Parameter(name=["--count", "-n"], validator=Number(gte=1))] = None,
    talk: Talk = TALK,
) -> int:
    """Stream events of runs and jobs until Ctrl-C.

    With --json each event is one object per line; with --quiet only the event ids, to continue from
    with --after.

    Parameters
    ----------
    type_
        Filter by event type, such as run.ended (repeatable). Default: all.
    job
        Filter by job name or id (repeatable). Default: all.
    after
        Continue after the event with this id, at most about two minutes old. Default: start now.
    count
        Exit after this many events. Default: no limit.
    """
    left = count
    with talk.open() as client:
        for event in client.follow_feed(after=after):
            if not wanted(event, type_, job):
                continue
            tell(event, talk)
            if left is not None:
                left -= 1
                if left == 0:
                    break
    return 0


def wanted(event: Any, types: list[str] | None, jobs: list[str] | None) -> bool:
    if types and event.type not in types:
        return False
    return not jobs or event.job_name in jobs or event.job_id in jobs


def tell(event: Any, talk: Talk) -> None:
    if talk.as_json:
        print(msgspec.json.encode(event).decode(), flush=True)
    elif talk.quiet:
        print(event.id, flush=True)
    else:
        print(line(event), flush=True)


def line(event: Any) -> str:
    detail = event.status or ""
    if event.progress is not None:
        detail = f"{event.progress:.0%}"
    if event.missed:
        detail = ", ".join(f"{number} {type_}" for type_, number in event.missed.items())
    mood = ENDINGS.get(event.status or "") or MOODS.get(event.type)
    parts = [
        f"{event.at:%H:%M:%S} UTC",
        coloured(f"{event.type:<15}", mood, screen_of()),
        shown(event.job_name or event.job_id),
        event.run_id or "",
        detail,
        f"attempt {event.attempt}" if event.attempt and event.attempt > 1 else "",
        shown(event.message),
    ]
    return "  ".join(part for part in parts if part)
