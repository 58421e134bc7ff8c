"""Decides whether an event matches a job's trigger, and why not.

An expression that fails counts as no match: one unusual event must not stop a job. The error is
stored with the event. The store selects the candidate jobs by event type.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from rota.core import expressions
from rota.core.arrivals.event import Event, patterns_of
from rota.core.errors import ExpressionFailed
from rota.core.time.policies import Window
from rota.core.time.trigger import EXPRESSION_NAMES, AllOf, Trigger

MOST_KEY: Final = 200
MOST_WHY: Final = 300


class Outcome(StrEnum):
    """The outcome of an event for a job that waits for its type."""

    MATCHED = "matched"
    # It becomes a run together with other events.
    GATHERED = "gathered"
    FILTERED = "filtered"
    PAUSED = "paused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The outcome of matching. `parts` are the matching patterns; `key` groups events."""

    job_id: UUID
    outcome: Outcome
    run_id: UUID | None = None
    why: str | None = None
    key: str = ""
    parts: tuple[int, ...] = ()

    def plain(self) -> dict[str, object]:
        """Return the form that is stored with the event."""
        fields: dict[str, object] = {"job_id": self.job_id.hex, "outcome": self.outcome.value}
        if self.run_id is not None:
            fields["run_id"] = self.run_id.hex
        if self.why is not None:
            fields["why"] = self.why
        return fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A job that waits for events; `held` is why it accepts none now."""

    job_id: UUID
    trigger: Trigger
    window: Window
    held: str | None = None


def match(waiting: Waiting, event: Event) -> Match | None:
    """Match an event with a job; None if the event has another type."""
    wanted = waiting.trigger.wanted
    names = patterns_of(event.type)
    places = [place for place, pattern in enumerate(wanted) if pattern.type in names]
    if not places:
        return None
    held = waiting.held or _closed(waiting.window, event.received_at)
    if held is not None:
        return Match(job_id=waiting.job_id, outcome=Outcome.PAUSED, why=held)
    try:
        parts = tuple(place for place in places if _is_true(wanted[place].where, event.shown))
        if not parts:
            why = "; ".join(f"false: {wanted[place].where}" for place in places)
            return Match(job_id=waiting.job_id, outcome=Outcome.FILTERED, why=why[:MOST_WHY])
        key = _key(waiting.trigger, event.shown)
    except ExpressionFailed as error:
        return Match(job_id=waiting.job_id, outcome=Outcome.FAILED, why=str(error)[:MOST_WHY])
    gathered = waiting.trigger.gathering is not None
    outcome = Outcome.GATHERED if gathered else Outcome.MATCHED
    return Match(job_id=waiting.job_id, outcome=outcome, key=key, parts=parts)


def chosen_part(parts: Sequence[int], filled: int) -> int:
    """Return the pattern that an event fills: the first unfilled one, or the first."""
    return next((part for part in parts if not filled >> part & 1), parts[0])


def missing_types(trigger: Trigger, filled: int) -> list[str]:
    """Return the event types of an `all_of` that have not arrived."""
    if not isinstance(trigger.gathering, AllOf):
        return []
    return [pattern.type for part, pattern in enumerate(trigger.wanted) if not filled >> part & 1]


def _closed(window: Window, at: datetime) -> str | None:
    if window.start is not None and at < window.start:
        return "the job's window has not started"
    if window.end is not None and at >= window.end:
        return "the job's window has ended"
    return None


def _is_true(where: str | None, shown: Mapping[str, Any]) -> bool:
    if where is None:
        return True
    return expressions.is_true(expressions.parse(where, names=EXPRESSION_NAMES), {"event": shown})


def _key(trigger: Trigger, shown: Mapping[str, Any]) -> str:
    if trigger.gathering is None or trigger.gathering.key is None:
        return ""
    text = trigger.gathering.key
    value = expressions.evaluate(expressions.parse(text, names=EXPRESSION_NAMES), {"event": shown})
    if isinstance(value, bool):
        value = "true" if value else "false"
    if not isinstance(value, str | int | float) or not str(value):
        raise ExpressionFailed(text, 0, "the key must be a string or a number")
    if len(str(value)) > MOST_KEY:
        raise ExpressionFailed(text, 0, f"the key has more than {MOST_KEY} characters")
    return str(value)
