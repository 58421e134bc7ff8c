"""Describes in one sentence why a finished run ended as it did.

Reads the reason stored with the ending: {type, message} of a failure, or {code, …} if there was
nothing to run. An unknown code is shown unchanged.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from rota.core.states import RunState
from rota.core.time.durations import to_words
from rota.store.wait_explanations import RunSubject

# The failure message comes from the handler and may have any length.
TEXT_LENGTH_MAX: Final = 300

REASON_TEXTS: Final[dict[str, str]] = {
    "overlap": "the previous run was still active",
    "overlap_full": "too many runs of the job were already waiting",
    "paused": "the job was paused",
    "queue_paused": "the queue was paused",
    "edit": "the job was changed",
    "blackout": "a calendar excluded its time",
    "outage": "no scheduler fired it in time",
    "start_deadline": "its start deadline had passed",
    "caught_up": "another run of the job covers it",
    "deadline": "its deadline had passed",
    "cancelled": "its cancellation was requested",
    "job_deleted": "the job was deleted",
    "worker_lost": "its worker was lost",
    "target_down": "its target did not respond",
    "handed_back": "its worker stopped before it could finish",
    "claim_unanswered": "its worker lost the response to the claim, so it never started",
}

STATE_VERBS: Final[dict[RunState, str]] = {
    RunState.DEAD: "failed",
    RunState.CANCELLED: "was cancelled",
    RunState.SKIPPED: "was skipped",
    RunState.MISSED: "was missed",
    RunState.COALESCED: "was merged into another run",
    RunState.EXPIRED: "expired",
    RunState.LOST: "was lost",
    RunState.QUARANTINED: "was quarantined",
}


def describe_ending(run: RunSubject) -> str:
    """Return the sentence for a finished run."""
    at = format_time(run.finished_at or run.now)
    if run.state is RunState.SUCCEEDED:
        took = ""
        if run.started_at is not None and run.finished_at is not None:
            took = (
                f" after running for {to_words(round_duration(run.finished_at - run.started_at))}"
            )
        return f"The run succeeded at {at}{took}, in attempt {run.attempt}."
    why = describe_reason(read_reason(run.reason))
    if run.state is RunState.QUARANTINED:
        why = f"its worker was lost {format_count(run.losses, 'time')} while it was running"
    elif run.state is RunState.LOST:
        why = f"{why} and the job runs at most once"
    tries = f" in attempt {run.attempt}" if run.state is RunState.DEAD else ""
    return f"The run {STATE_VERBS[run.state]} at {at}{tries} because {why}."


def describe_reason(reason: Mapping[str, Any]) -> str:
    """Return the text that follows the word "because"."""
    if "message" in reason or "type" in reason:
        return f"of {describe_failure(reason)}"
    if "into" in reason:
        return f"run {shorten_text(reason['into'])} of the job covers it"
    code = str(reason.get("code", ""))
    if code == "cancelled" and "by" in reason:
        return f"{shorten_text(reason['by'])} requested it"
    text = REASON_TEXTS.get(code) or (
        f"of {shorten_text(code)!r}" if code else "of an unknown reason"
    )
    if reason.get("forced"):
        text = f"{text}, without waiting for its worker"
    if "by" in reason:
        text = f"{text} by {shorten_text(reason['by'])}"
    return text


def describe_failure(reason: Mapping[str, Any]) -> str:
    parts = [shorten_text(reason[key]) for key in ("type", "message") if reason.get(key)]
    return ": ".join(parts) or "an unknown failure"


def read_reason(reason: str | None) -> dict[str, Any]:
    """Return the stored reason without its traceback; {} if it is not an object."""
    found = None if reason is None else json.loads(reason)
    if not isinstance(found, dict):
        return {}
    found.pop("traceback", None)
    return found


def shorten_text(value: object) -> str:
    """Return the value on one line, shortened to `TEXT_LENGTH_MAX` characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= TEXT_LENGTH_MAX else f"{text[: TEXT_LENGTH_MAX - 1]}…"


def format_time(time: datetime) -> str:
    """Format a time for people; the details hold it exactly."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def round_duration(duration: timedelta) -> timedelta:
    """Round to the millisecond, and above ten seconds to a tenth of a second."""
    seconds = duration.total_seconds()
    return timedelta(seconds=round(seconds, 3 if seconds < 10 else 1))


def format_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
