"""Decides when the work behind a ping URL is late, failed or takes too long.

A ping expects a success by its schedule: an interval counts from the last success, a cron
expression from the next of its times after the last success. `grace` is added to both. Work that
has begun must end within `grace`.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Final
from uuid import UUID

from rota.core.errors import InvalidInput
from rota.core.time.durations import to_words
from rota.core.time.planning import plan_next_tick
from rota.core.time.schedule import Schedule

TOKEN_BITS: Final = 128
HANDLE_LENGTH: Final = 8
EXIT_CODE: Final = re.compile(r"\d{1,3}", re.ASCII)
EXIT_CODE_MAX: Final = 255


class PingSignal(StrEnum):
    """What a request to a ping URL reports."""

    SUCCESS = "success"
    START = "start"
    FAIL = "fail"
    LOG = "log"


@dataclass(frozen=True, slots=True, kw_only=True)
class PingToken:
    """The secret part of a ping URL; only its digest is stored."""

    text: str
    handle: str
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PingTiming:
    """When successes are expected. Exactly one of `every` and `schedule` is set."""

    grace: timedelta
    every: timedelta | None = None
    schedule: Schedule | None = None

    def compute_overdue(self, since: datetime) -> datetime | None:
        """Return when a success after `since` is overdue; None if none is expected any more."""
        if self.every is not None:
            return since + self.every + self.grace
        if self.schedule is None:
            return None
        planned = plan_next_tick(self.schedule, since)
        return None if planned is None else planned.due_at + self.grace


@dataclass(frozen=True, slots=True, kw_only=True)
class PingTimes:
    """What a ping has received so far."""

    succeeded_at: datetime | None = None
    failed_at: datetime | None = None
    began_at: datetime | None = None
    overdue_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PingVerdict:
    """`problem` says what is wrong, None if all is well. `check_at` is when that could change
    without another signal.
    """

    problem: str | None
    check_at: datetime | None


def create_token(bits: bytes) -> PingToken:
    """Create a token from 128 random bits, in the form of a UUID as healthchecks.io uses it."""
    if len(bits) * 8 != TOKEN_BITS:
        raise InvalidInput("bits", len(bits) * 8, f"expected {TOKEN_BITS} random bits")
    text = str(UUID(bytes=bits))
    return PingToken(text=text, handle=text[:HANDLE_LENGTH], digest=compute_digest(text))


def compute_digest(token: str) -> bytes:
    return sha256(token.lower().encode()).digest()


def parse_signal(text: str) -> tuple[PingSignal, int]:
    """Return the signal at the end of a ping URL and its exit code."""
    if text in {PingSignal.START, PingSignal.FAIL, PingSignal.LOG}:
        return PingSignal(text), 1 if text == PingSignal.FAIL else 0
    if EXIT_CODE.fullmatch(text) and int(text) <= EXIT_CODE_MAX:
        code = int(text)
        return PingSignal.FAIL if code else PingSignal.SUCCESS, code
    raise InvalidInput("signal", text, "expected start, fail, log or an exit code from 0 to 255")


def judge_ping(timing: PingTiming, times: PingTimes, *, now: datetime) -> PingVerdict:
    """Decide whether the work behind a ping is well."""
    if times.failed_at is not None and (
        times.succeeded_at is None or times.failed_at > times.succeeded_at
    ):
        return PingVerdict(problem=f"failed at {format_time(times.failed_at)}", check_at=None)
    if times.began_at is not None and now >= times.began_at + timing.grace:
        problem = (
            f"began at {format_time(times.began_at)} and did not end within "
            f"{to_words(timing.grace)}"
        )
        return PingVerdict(problem=problem, check_at=None)
    if times.overdue_at is not None and now >= times.overdue_at:
        last = (
            "has never succeeded"
            if times.succeeded_at is None
            else f"last succeeded at {format_time(times.succeeded_at)}"
        )
        problem = f"{last}; a success was due by {format_time(times.overdue_at)}"
        return PingVerdict(problem=problem, check_at=None)
    deadlines = [times.overdue_at]
    if times.began_at is not None:
        deadlines.append(times.began_at + timing.grace)
    return PingVerdict(
        problem=None, check_at=min((at for at in deadlines if at is not None), default=None)
    )


def format_time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
