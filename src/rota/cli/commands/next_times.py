"""`rota next`: explains a schedule and shows its next times, without a server."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter
from cyclopts.validators import Number
from msgspec import Struct

from rota.cli import times
from rota.cli.api_options import OUTPUT, ApiOptions
from rota.cli.argument_values import read_json
from rota.cli.schedules import print_preview
from rota.contract.schedule import read_schedule, write_schedule
from rota.core.errors import InvalidInput
from rota.core.time import moments, zones
from rota.core.time.preview import PREVIEW_TIMES_MAX, SchedulePreview, preview_schedule


class PreviewTime(Struct, kw_only=True, frozen=True):
    at: str
    due_at: str
    local: str
    viewed: str
    notes: list[str]


class PreviewHint(Struct, kw_only=True, frozen=True):
    code: str
    detail: str


class LocalPreview(Struct, kw_only=True, frozen=True):
    """The response of the API's POST /v1/schedules/preview."""

    sentence: str
    follows: str
    timezone: str
    tzdata: str
    schedule: dict[str, Any]
    upcoming: list[PreviewTime]
    warnings: list[PreviewHint]


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True, slots=True, kw_only=True)
class NextOutputOptions:
    """Output format.

    Parameters
    ----------
    as_json
        Print JSON, in the form of the API's preview.
    quiet
        Print only the times, one per line.
    """

    as_json: Annotated[bool, Parameter(name="--json", negative=())] = False
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=())] = False


DEFAULT_OUTPUT_OPTIONS: Final = NextOutputOptions()


def next_times(
    schedule: str,
    /,
    *,
    tz: str | None = None,
    count: Annotated[
        int, Parameter(name=["--count", "-n"], validator=Number(gte=1, lte=PREVIEW_TIMES_MAX))
    ] = 5,
    after: str | None = None,
    viewer: str | None = None,
    output_options: NextOutputOptions = DEFAULT_OUTPUT_OPTIONS,
) -> int:
    """Explain a schedule in words, and show its next times and the effect of clock changes.

    Works without a server and ignores calendars; `rota jobs preview` applies them.

    Parameters
    ----------
    schedule
        A cron expression such as "0 2 * * *", an interval such as "every 15m", an RRULE, or a
        schedule as JSON or @file.
    tz
        Time zone of the schedule, an IANA name. Default: UTC.
    count
        Number of times. Default: 5.
    after
        Show times after this time, such as 2026-03-28T00:00:00Z. Default: now.
    viewer
        Additional time zone to show. Default: none.
    """
    start = times.now() if after is None else moments.parse(after, field="--after")
    read = read_schedule(build_schedule(schedule, tz), now=start, seed="preview")
    found = preview_schedule(read, start, count=count, viewer=viewer)
    talk = ApiOptions(as_json=output_options.as_json, quiet=output_options.quiet)
    print_preview(build_preview(found, write_schedule(read)), talk, viewer=viewer)
    return 0


def build_schedule(text: str, tz: str | None) -> dict[str, Any]:
    """Return the schedule as JSON, from the short forms of the command line."""
    # A cron alias such as @daily starts like @file.
    if text.startswith("{") or (text.startswith("@") and is_file(text[1:])):
        found = read_json(text, field="schedule")
        if not isinstance(found, dict):
            raise InvalidInput(
                "schedule",
                text,
                "expected a JSON object, as described in docs/reference/schedules.md",
            )
    elif text.startswith("every "):
        found = {"every": text.removeprefix("every ").strip()}
    elif "FREQ=" in text.upper():
        found = {"rrule": text}
    else:
        found = {"cron": text}
    return found if tz is None else {**found, "timezone": tz}


def is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # not a valid file name
        return False


def build_preview(found: SchedulePreview, schedule: dict[str, Any]) -> LocalPreview:
    return LocalPreview(
        sentence=found.sentence,
        follows=found.follows.value,
        timezone=found.timezone,
        tzdata=found.tzdata,
        schedule=schedule,
        upcoming=[
            PreviewTime(
                at=moments.to_rfc3339(each.at),
                due_at=moments.to_rfc3339(each.due_at),
                local=zones.format_local_time(each.at, found.timezone),
                viewed=each.viewer_local.isoformat(),
                notes=list(each.notes),
            )
            for each in found.upcoming
        ],
        warnings=[
            PreviewHint(code=each.concern.value, detail=each.detail) for each in found.warnings
        ],
    )
