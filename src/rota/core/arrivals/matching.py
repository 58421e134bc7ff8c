"""Whether a job wants an event, and if not, why. Room: core/arrivals.

An expression that fails on an event is no match: one odd event must not stop a job, and what went
wrong is kept with the event. Which jobs are asked is decided by their types, in the store.
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
    """What an event is for a job that waits for its type."""

    MATCHED = "matched"
    # It becomes a run together with others.
    GATHERED = "gathered"
    FILTERED = "filtered"
    PAUSED = "paused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """`parts` are the places among those wanted that it can fill; it is gathered by its `key`."""

    job_id: UUID
    outcome: Outcome
    run_id: UUID | None = None
    why: str | None = None
    key: str = ""
    parts: tuple[int, ...] = ()

    def plain(self) -> dict[str, object]:
        """As it is kept with the event."""
        told: dict[str, object] = {"job_id": self.job_id.hex, "outcome": self.outcome.value}
        if self.run_id is not None:
            told["run_id"] = self.run_id.hex
        if self.why is not None:
            told["why"] = self.why
        return told


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A job that waits for events; `held` is why it takes none now."""

    job_id: UUID
    trigger: Trigger
    window: Window
    held: str | None = None


def match(waiting: Waiting, event: Event) -> Match | None:
    """What the event is for the job; None if it is of another type."""
    wanted = waiting.trigger.wanted
    names = patterns_of(event.type)
    places = [place for place, each in enumerate(wanted) if each.type in names]
    if not places:
        return None
    held = waiting.held or _closed(waiting.window, event.received_at)
    if held is not None:
        return Match(job_id=waiting.job_id, outcome=Outcome.PAUSED, why=held)
    try:
        parts = tuple(place for place in places if _is_true(wanted[place].where, event.shown))
        if not parts:
            why = "; ".join(f"not {wanted[place].where}" for place in places)
            return Match(job_id=waiting.job_id, outcome=Outcome.FILTERED, why=why[:MOST_WHY])
        key = _key(waiting.trigger, event.shown)
    except ExpressionFailed as error:
        return Match(job_id=waiting.job_id, outcome=Outcome.FAILED, why=str(error)[:MOST_WHY])
    gathered = waiting.trigger.gathering is not None
    outcome = Outcome.GATHERED if gathered else Outcome.MATCHED
    return Match(job_id=waiting.job_id, outcome=outcome, key=key, parts=parts)


def chosen_part(parts: Sequence[int], filled: int) -> int:
    """Which place of several an event takes: the first that is empty, or the first at all."""
    return next((part for part in parts if not filled >> part & 1), parts[0])


def missing_types(trigger: Trigger, filled: int) -> list[str]:
    """What has not come, of several that were waited for."""
    if not isinstance(trigger.gathering, AllOf):
        return []
    return [each.type for part, each in enumerate(trigger.wanted) if not filled >> part & 1]


def _closed(window: Window, at: datetime) -> str | None:
    if window.start is not None and at < window.start:
        return "the window of the job has not begun"
    if window.end is not None and at >= window.end:
        return "the window of the job has ended"
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
        raise ExpressionFailed(text, 0, "the key must be a text or a number")
    if len(str(value)) > MOST_KEY:
        raise ExpressionFailed(text, 0, f"the key has more than {MOST_KEY} characters")
    return str(value)
