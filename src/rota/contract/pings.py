"""Reads and writes when a ping expects a success: at an interval, or at times of a cron."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from rota.contract.expectation_values import to_alert_policy
from rota.contract.expectations import AlertDraft
from rota.contract.field_types import Duration, Name
from rota.contract.schedule import read_schedule, read_stored_schedule, write_schedule
from rota.core.alerts.finding import AlertPolicy
from rota.core.errors import InvalidInput
from rota.core.pings import PingTiming
from rota.core.time import durations

EVERY_MIN: Final = durations.parse("1m")
EVERY_MAX: Final = durations.parse("366d")
GRACE_MIN: Final = durations.parse("1m")
GRACE_MAX: Final = durations.parse("366d")
DEFAULT_GRACE: Final = "1h"


class PingDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A new ping. Give `every` or `cron`."""

    name: Annotated[Name, Meta(description="Name of the ping, and of the job that shows its runs.")]
    every: Annotated[
        Duration | None,
        Meta(description="A success is expected this often, 1m to 366d. Default: by `cron`."),
    ] = None
    cron: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        Meta(description="A success is expected at these times. Default: by `every`."),
    ] = None
    timezone: Annotated[
        Annotated[str, Meta(min_length=1, max_length=64)],
        Meta(description="Time zone of `cron`. Default: UTC."),
    ] = "UTC"
    grace: Annotated[
        Duration,
        Meta(
            description="How long a success may be late, and how long the work may take after "
            "`/start`. Default: 1h."
        ),
    ] = DEFAULT_GRACE
    alert: Annotated[
        AlertDraft | None,
        Meta(description="How incidents are reported. Default: to the default channels."),
    ] = None


def read_timing(draft: PingDraft, *, now: datetime) -> PingTiming:
    """Read when the ping expects a success."""
    grace = durations.parse(draft.grace, field="grace", minimum=GRACE_MIN, maximum=GRACE_MAX)
    if (draft.every is None) == (draft.cron is None):
        raise InvalidInput("every", draft.every, "give either every or cron")
    if draft.every is not None:
        every = durations.parse(draft.every, field="every", minimum=EVERY_MIN, maximum=EVERY_MAX)
        return PingTiming(grace=grace, every=every)
    schedule = read_schedule({"cron": draft.cron, "timezone": draft.timezone}, now=now)
    return PingTiming(grace=grace, schedule=schedule)


def read_alert(draft: PingDraft) -> AlertPolicy:
    return AlertPolicy() if draft.alert is None else to_alert_policy(draft.alert)


def write_timing(timing: PingTiming) -> dict[str, Any]:
    """Return the stored form, without the grace."""
    if timing.every is not None:
        return {"every": durations.to_iso(timing.every)}
    assert timing.schedule is not None  # noqa: S101
    return {"schedule": write_schedule(timing.schedule)}


def read_stored_timing(document: dict[str, Any], *, grace: timedelta) -> PingTiming:
    if "every" in document:
        return PingTiming(grace=grace, every=durations.parse(document["every"]))
    return PingTiming(grace=grace, schedule=read_stored_schedule(document["schedule"]))
