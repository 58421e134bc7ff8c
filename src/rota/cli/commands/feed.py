"""`rota feed`: what happens, as it happens. Room: cli."""

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
    """Print what happens to runs and jobs, as it happens, until Ctrl-C.

    With --json each event is one object on a line of its own; with --quiet only the ids to go on
    from.

    Parameters
    ----------
    type_
        Only events of this type, as in run.ended; may be given several times.
    job
        Only events of this job: its name or its id; may be given several times.
    after
        Go on after the event with this id, at most about two minutes old.
    count
        End after so many events.
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
    said = event.status or ""
    if event.progress is not None:
        said = f"{event.progress:.0%}"
    if event.missed:
        said = ", ".join(f"{number} {type_}" for type_, number in event.missed.items())
    mood = ENDINGS.get(event.status or "") or MOODS.get(event.type)
    parts = [
        f"{event.at:%H:%M:%S}",
        coloured(f"{event.type:<15}", mood, screen_of()),
        shown(event.job_name or event.job_id),
        event.run_id or "",
        said,
        f"attempt {event.attempt}" if event.attempt and event.attempt > 1 else "",
        shown(event.message),
    ]
    return "  ".join(part for part in parts if part)
