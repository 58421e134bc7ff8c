"""Defines `rota.Expect` and `rota.Alert`: the `expect` and `alert` of a job, for type checkers.

The fields are those of the API (docs/reference/expectations.md). Durations may be `timedelta` and
times of day `datetime.time`.
"""

from collections.abc import Mapping
from datetime import time, timedelta
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import force_setattr

from rota.core.time import durations

DurationValue = str | timedelta


class Expect(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """What must hold for the runs of a job; a violation opens an incident.

        @app.job(cron="30 2 * * *", expect=rota.Expect(finish_by="06:00", succeed_every="26h"))

    `finish_by` is a time of day (`"06:00"`), or a `timedelta` after the tick.
    """

    start_within: DurationValue | None = None
    finish_by: str | time | timedelta | None = None
    at_risk: bool | Mapping[str, Any] | None = None
    succeed_every: DurationValue | None = None
    max_duration: DurationValue | Mapping[str, Any] | None = None
    failures: Mapping[str, Any] | None = None
    dead_letters: int | Mapping[str, Any] | None = None
    missed_ticks: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.finish_by, time):
            has_seconds = self.finish_by.second or self.finish_by.microsecond
            text = self.finish_by.strftime("%H:%M:%S" if has_seconds else "%H:%M")
            force_setattr(self, "finish_by", text)
        elif isinstance(self.finish_by, timedelta):
            force_setattr(self, "finish_by", f"+{durations.to_iso(self.finish_by)}")


class Alert(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """How incidents of a job are reported. `to` is the name of a route or a channel."""

    to: str | None = None
    severity: Literal["info", "warning", "page"] | None = None
    hold_for: DurationValue | None = field(name="for", default=None)
    clear: int | None = None
    recovery: bool | None = None
