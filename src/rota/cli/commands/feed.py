"""`rota feed`: streams events of runs and jobs."""

from typing import Annotated, Any, Final

import msgspec
from cyclopts import Parameter
from cyclopts.validators import Number

from rota.cli.api_options import DEFAULT_API_OPTIONS, REPEATABLE, ApiOptions
from rota.cli.tables import colour_text, detect_screen, format_cell

TYPE_MOODS: Final = {"run.made": "waits", "run.started": "busy", "run.attempted": "waits"}
STATUS_MOODS: Final = {"succeeded": "good", "dead": "bad", "lost": "bad", "quarantined": "bad"}


def feed(
    *,
    type_: Annotated[list[str] | None, Parameter(name="--type", negative=())] = None,
    job: Annotated[list[str] | None, REPEATABLE] = None,
    after: str | None = None,
    count: Annotated[int | None, Parameter(name=["--count", "-n"], validator=Number(gte=1))] = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
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
    with api_options.open_client() as client:
        for event in client.follow_feed(after=after):
            if not matches_filters(event, type_, job):
                continue
            print_event(event, api_options)
            if left is not None:
                left -= 1
                if left == 0:
                    break
    return 0


def matches_filters(event: Any, types: list[str] | None, jobs: list[str] | None) -> bool:
    if types and event.type not in types:
        return False
    return not jobs or event.job_name in jobs or event.job_id in jobs


def print_event(event: Any, api_options: ApiOptions) -> None:
    if api_options.as_json:
        print(msgspec.json.encode(event).decode(), flush=True)
    elif api_options.quiet:
        print(event.id, flush=True)
    else:
        print(format_event(event), flush=True)


def format_event(event: Any) -> str:
    detail = event.status or ""
    if event.progress is not None:
        detail = f"{event.progress:.0%}"
    if event.missed:
        detail = ", ".join(f"{number} {type_}" for type_, number in event.missed.items())
    mood = STATUS_MOODS.get(event.status or "") or TYPE_MOODS.get(event.type)
    parts = [
        f"{event.at:%H:%M:%S} UTC",
        colour_text(f"{event.type:<15}", mood, detect_screen()),
        format_cell(event.job_name or event.job_id),
        event.run_id or "",
        detail,
        f"attempt {event.attempt}" if event.attempt and event.attempt > 1 else "",
        format_cell(event.message),
    ]
    return "  ".join(part for part in parts if part)
