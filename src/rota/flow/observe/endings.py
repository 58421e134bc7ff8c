"""Why a finished run ended as it did, in one sentence. Room: flow/observe.

Reads the reason that was stored with the ending: {type, message} of a failure, or {code, …} of why
there was nothing to run. A code that is not known here is shown as it is, never hidden.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from rota.core.states import RunState
from rota.core.time.durations import words
from rota.store.waiting import Subject

# A message of a failure is the handler's: as long as it likes.
LONGEST: Final = 300

CODES: Final[dict[str, str]] = {
    "overlap": "another run of its job was not finished",
    "overlap_full": "too many runs of its job were waiting already",
    "paused": "its job was paused",
    "queue_paused": "its queue was paused",
    "edit": "its job was changed",
    "blackout": "a calendar left its time out",
    "outage": "no scheduler decided it in time",
    "start_deadline": "it could no longer start within its deadline",
    "caught_up": "another run of its job stands for it",
    "deadline": "its deadline had passed",
    "cancelled": "somebody asked for it",
    "job_deleted": "its job was deleted",
    "worker_lost": "its worker was lost",
    "target_down": "its target did not answer",
    "handed_back": "its worker had to leave before it could end",
    "claim_unanswered": "its worker lost the answer to its claim, so it never started",
}

VERBS: Final[dict[RunState, str]] = {
    RunState.DEAD: "failed",
    RunState.CANCELLED: "was cancelled",
    RunState.SKIPPED: "was skipped",
    RunState.MISSED: "was missed",
    RunState.COALESCED: "was merged into another",
    RunState.EXPIRED: "expired",
    RunState.LOST: "was lost",
    RunState.QUARANTINED: "was quarantined",
}


def said_ending(run: Subject) -> str:
    """The sentence for a run that is finished."""
    at = shown(run.finished_at or run.now)
    if run.state is RunState.SUCCEEDED:
        took = ""
        if run.started_at is not None and run.finished_at is not None:
            took = f" after running for {words(rounded(run.finished_at - run.started_at))}"
        return f"It succeeded at {at}{took}, in attempt {run.attempt}."
    why = because(read(run.reason))
    if run.state is RunState.QUARANTINED:
        why = f"its worker was lost {counted(run.losses, 'time')} while it ran"
    elif run.state is RunState.LOST:
        why = f"{why}, and it may run at most once"
    tries = f" in attempt {run.attempt}" if run.state is RunState.DEAD else ""
    return f"It {VERBS[run.state]} at {at}{tries} because {why}."


def because(reason: Mapping[str, Any]) -> str:
    """What follows the word "because"."""
    if "message" in reason or "type" in reason:
        return f"of {failure(reason)}"
    if "into" in reason:
        return f"run {short(reason['into'])} of its job stands for it"
    code = str(reason.get("code", ""))
    if code == "cancelled" and "by" in reason:
        return f"{short(reason['by'])} asked for it"
    said = CODES.get(code) or (f"of {short(code)!r}" if code else "of a reason nobody gave")
    if reason.get("forced"):
        said = f"{said}, without waiting for its worker"
    if "by" in reason:
        said = f"{said} by {short(reason['by'])}"
    return said


def failure(reason: Mapping[str, Any]) -> str:
    said = [short(reason[key]) for key in ("type", "message") if reason.get(key)]
    return ": ".join(said) or "an unknown failure"


def read(reason: str | None) -> dict[str, Any]:
    """The stored reason without its traceback; what is no object is no reason."""
    found = None if reason is None else json.loads(reason)
    if not isinstance(found, dict):
        return {}
    found.pop("traceback", None)
    return found


def short(value: object) -> str:
    """On one line, and not longer than a sentence can bear."""
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def shown(moment: datetime) -> str:
    """A time for people; the details have it exactly."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def rounded(length: timedelta) -> timedelta:
    """To the millisecond, and beyond ten seconds to the tenth."""
    seconds = length.total_seconds()
    return timedelta(seconds=round(seconds, 3 if seconds < 10 else 1))


def counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
