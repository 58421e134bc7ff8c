"""Doing something to many things at once: which ones, and the token that says so was meant (S13).

Room: core. A bulk call is made twice: the first only counts and answers with a token, the second
shows the token. It holds the count and the moment of counting, so that the second call never does
more than was shown, even if the filter is open at its end and runs arrive meanwhile. It guards
against mistakes and not against attackers: who may call is decided elsewhere, and so is finding.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final, Protocol
from uuid import UUID

from rota.core.errors import Conflict, InvalidInput
from rota.core.ids import EPOCH
from rota.core.submission import canonical, check_name
from rota.core.time import moments

# One call counts no further; whoever means more says it in parts.
MOST_COUNTED: Final = 100_000
MOST_BATCH: Final = 10_000
_MICROSECOND: Final = timedelta(microseconds=1)
_PARTS: Final = 3
_LONGEST_NUMBER: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs. `error` is the type of the last failure, and `fingerprint` tells failures of one
    type apart; since and until (exclusive) are about the end of finished runs and the making of
    unfinished ones.
    """

    job_id: UUID | None = None
    kind: str | None = None
    queue: str | None = None
    error: str | None = None
    fingerprint: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def said(self) -> dict[str, object]:
        return {
            "job_id": None if self.job_id is None else str(self.job_id),
            "kind": self.kind,
            "queue": self.queue,
            "error": self.error,
            "fingerprint": self.fingerprint,
            "since": None if self.since is None else moments.rfc3339(self.since),
            "until": None if self.until is None else moments.rfc3339(self.until),
        }


class Which(Protocol):
    """A filter, of whichever things; `said` is what a token is given for."""

    def said(self) -> dict[str, object]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What a token says: at most so many, and none that came later."""

    count: int
    until: datetime


def checked(which: RunFilter) -> RunFilter:
    """Refuse a filter that means everything, and what it cannot mean."""
    if which == RunFilter():
        wanted = "at least one of job_id, kind, queue, error, fingerprint, since and until"
        raise InvalidInput("filter", "nothing", wanted)
    for name in ("kind", "queue", "error", "fingerprint"):
        value = getattr(which, name)
        if value is not None:
            check_name(value, f"filter.{name}")
    since, until = (
        None if value is None else moments.parse(value, field=f"filter.{name}")
        for name, value in (("since", which.since), ("until", which.until))
    )
    if since is not None and until is not None and since >= until:
        raise InvalidInput("filter.until", moments.rfc3339(until), "a time after filter.since")
    return replace(which, since=since, until=until)


def bounded(which: RunFilter, until: datetime) -> RunFilter:
    """The same runs, without those that came after `until`."""
    return replace(which, until=until if which.until is None else min(which.until, until))


def promise(action: str, tenant_id: int, which: Which, said: Promise) -> str:
    """The token for doing `action` to what this filter found."""
    moment = (said.until - EPOCH) // _MICROSECOND
    return f"{said.count}.{moment}.{_seal(action, tenant_id, which, said.count, moment)}"


def read_promise(action: str, tenant_id: int, which: Which, token: str) -> Promise:
    """What a token says, if it was given for exactly this; otherwise `InvalidInput`."""
    count, moment = _numbers(token)
    if token.rpartition(".")[2] != _seal(action, tenant_id, which, count, moment):
        wanted = "the token that a dry run of the same call answered"
        raise InvalidInput("token", token, wanted)
    return Promise(count=count, until=EPOCH + moment * _MICROSECOND)


def refuse_more(found: int, said: Promise) -> None:
    """More than was shown must not be touched: what it is, nobody has looked at."""
    if found > said.count:
        reason = f"{found} match now and {said.count} did at the dry run; make another one"
        raise Conflict("runs", reason)


def check_count(found: int) -> int:
    if found > MOST_COUNTED:
        wanted = f"a filter that finds at most {MOST_COUNTED} runs"
        raise InvalidInput("filter", f"more than {MOST_COUNTED} runs", wanted)
    return found


def check_most(most: int) -> int:
    if not 1 <= most <= MOST_BATCH:
        raise InvalidInput("most", most, f"1 to {MOST_BATCH}")
    return most


def _numbers(token: str) -> tuple[int, int]:
    parts = token.split(".")
    numbers = parts[:2]
    if len(parts) != _PARTS or not all(
        part.isascii() and part.isdigit() and len(part) <= _LONGEST_NUMBER for part in numbers
    ):
        return 0, 0
    return int(numbers[0]), int(numbers[1])


def _seal(action: str, tenant_id: int, which: Which, count: int, moment: int) -> str:
    said = canonical(
        {
            "action": action,
            "tenant": tenant_id,
            **which.said(),
            "count": count,
            "moment": moment,
        }
    )
    return blake2b(said.encode(), digest_size=12, person=b"rota bulk").hexdigest()
