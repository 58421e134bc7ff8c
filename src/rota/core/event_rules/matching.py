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
from rota.core.errors import ExpressionFailed
from rota.core.event_rules.event import ReceivedEvent, list_type_patterns
from rota.core.time.policies import Window
from rota.core.time.trigger import TRIGGER_EXPRESSION_NAMES, AllOf, Trigger

GROUPING_KEY_CHARACTERS_MAX: Final = 200
MATCH_REASON_CHARACTERS_MAX: Final = 300


class MatchOutcome(StrEnum):
    """The outcome of an event for a job that waits for its type."""

    MATCHED = "matched"
    # It becomes a run together with other events.
    GATHERED = "gathered"
    FILTERED = "filtered"
    PAUSED = "paused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMatch:
    """The outcome of matching. `parts` are the matching patterns; `key` groups events."""

    job_id: UUID
    outcome: MatchOutcome
    run_id: UUID | None = None
    reason: str | None = None
    key: str = ""
    parts: tuple[int, ...] = ()

    def to_plain(self) -> dict[str, object]:
        """Return the form that is stored with the event."""
        fields: dict[str, object] = {"job_id": self.job_id.hex, "outcome": self.outcome.value}
        if self.run_id is not None:
            fields["run_id"] = self.run_id.hex
        if self.reason is not None:
            fields["why"] = self.reason
        return fields


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingJob:
    """A job that waits for events; `held` is why it accepts none now."""

    job_id: UUID
    trigger: Trigger
    window: Window
    hold_reason: str | None = None


def match_event(waiting: WaitingJob, event: ReceivedEvent) -> EventMatch | None:
    """Match an event with a job; None if the event has another type."""
    wanted = waiting.trigger.patterns
    names = list_type_patterns(event.type)
    places = [place for place, pattern in enumerate(wanted) if pattern.type in names]
    if not places:
        return None
    held = waiting.hold_reason or _describe_closed_window(waiting.window, event.received_at)
    if held is not None:
        return EventMatch(job_id=waiting.job_id, outcome=MatchOutcome.PAUSED, reason=held)
    try:
        parts = tuple(place for place in places if _is_true(wanted[place].where, event.attributes))
        if not parts:
            why = "; ".join(f"false: {wanted[place].where}" for place in places)
            return EventMatch(
                job_id=waiting.job_id,
                outcome=MatchOutcome.FILTERED,
                reason=why[:MATCH_REASON_CHARACTERS_MAX],
            )
        key = _key(waiting.trigger, event.attributes)
    except ExpressionFailed as error:
        return EventMatch(
            job_id=waiting.job_id,
            outcome=MatchOutcome.FAILED,
            reason=str(error)[:MATCH_REASON_CHARACTERS_MAX],
        )
    gathered = waiting.trigger.grouping is not None
    outcome = MatchOutcome.GATHERED if gathered else MatchOutcome.MATCHED
    return EventMatch(job_id=waiting.job_id, outcome=outcome, key=key, parts=parts)


def choose_part(parts: Sequence[int], filled: int) -> int:
    """Return the pattern that an event fills: the first unfilled one, or the first."""
    return next((part for part in parts if not filled >> part & 1), parts[0])


def list_missing_types(trigger: Trigger, filled: int) -> list[str]:
    """Return the event types of an `all_of` that have not arrived."""
    if not isinstance(trigger.grouping, AllOf):
        return []
    return [pattern.type for part, pattern in enumerate(trigger.patterns) if not filled >> part & 1]


def _describe_closed_window(window: Window, at: datetime) -> str | None:
    if window.start is not None and at < window.start:
        return "the job's window has not started"
    if window.end is not None and at >= window.end:
        return "the job's window has ended"
    return None


def _is_true(where: str | None, shown: Mapping[str, Any]) -> bool:
    if where is None:
        return True
    return expressions.is_true(
        expressions.parse_expression(where, names=TRIGGER_EXPRESSION_NAMES), {"event": shown}
    )


def _key(trigger: Trigger, shown: Mapping[str, Any]) -> str:
    if trigger.grouping is None or trigger.grouping.key is None:
        return ""
    text = trigger.grouping.key
    value = expressions.evaluate(
        expressions.parse_expression(text, names=TRIGGER_EXPRESSION_NAMES), {"event": shown}
    )
    if isinstance(value, bool):
        value = "true" if value else "false"
    if not isinstance(value, str | int | float) or not str(value):
        raise ExpressionFailed(text, 0, "the key must be a string or a number")
    if len(str(value)) > GROUPING_KEY_CHARACTERS_MAX:
        raise ExpressionFailed(
            text, 0, f"the key has more than {GROUPING_KEY_CHARACTERS_MAX} characters"
        )
    return str(value)
