"""Checks the filters and confirmation tokens of bulk operations (S13).

A bulk operation takes two calls: a dry run counts and returns a token, and the second call sends
the token. The token holds the count and the time of counting, so that the second call never
changes more than the dry run showed, even if new runs match the filter meanwhile. The token guards
against mistakes, not against attackers: core/access.py decides who may call.
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

# One call counts no further; a caller with more runs must narrow the filter.
MOST_COUNTED: Final = 100_000
MOST_BATCH: Final = 10_000
_MICROSECOND: Final = timedelta(microseconds=1)
_PARTS: Final = 3
_LONGEST_NUMBER: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Selects runs. `error` is the type of the last failure; `fingerprint` distinguishes failures
    of one type. `since` and `until` (exclusive) refer to the end of finished runs and to the
    creation of unfinished ones.
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
    """A filter of any resource; a token is bound to the values that `said` returns."""

    def said(self) -> dict[str, object]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The content of a token: change at most `count`, and nothing created after `until`."""

    count: int
    until: datetime


def checked(which: RunFilter) -> RunFilter:
    """Reject an empty filter, which would match everything, and invalid values."""
    if which == RunFilter():
        wanted = (
            "required; give at least one of job_id, kind, queue, error, fingerprint, since, until"
        )
        raise InvalidInput("filter", None, wanted)
    for name in ("kind", "queue", "error", "fingerprint"):
        value = getattr(which, name)
        if value is not None:
            check_name(value, f"filter.{name}")
    since, until = (
        None if value is None else moments.parse(value, field=f"filter.{name}")
        for name, value in (("since", which.since), ("until", which.until))
    )
    if since is not None and until is not None and since >= until:
        raise InvalidInput("filter.until", moments.rfc3339(until), "must be after filter.since")
    return replace(which, since=since, until=until)


def bounded(which: RunFilter, until: datetime) -> RunFilter:
    """Return the filter without runs that came after `until`."""
    return replace(which, until=until if which.until is None else min(which.until, until))


def promise(action: str, tenant_id: int, which: Which, said: Promise) -> str:
    """Return the token that confirms `action` on the runs that this filter found."""
    moment = (said.until - EPOCH) // _MICROSECOND
    return f"{said.count}.{moment}.{_seal(action, tenant_id, which, said.count, moment)}"


def read_promise(action: str, tenant_id: int, which: Which, token: str) -> Promise:
    """Return the content of a token; raise `InvalidInput` if it was given for another call."""
    count, moment = _parse_numbers(token)
    if token.rpartition(".")[2] != _seal(action, tenant_id, which, count, moment):
        wanted = "expected the token that a dry run of the same call returned"
        raise InvalidInput("token", token, wanted)
    return Promise(count=count, until=EPOCH + moment * _MICROSECOND)


def refuse_more(found: int, said: Promise) -> None:
    """Raise `Conflict` if more runs match than the dry run showed to the caller."""
    if found > said.count:
        reason = f"{found} match now, {said.count} matched in the dry run; repeat the dry run"
        raise Conflict("runs", reason)


def check_count(found: int) -> int:
    if found > MOST_COUNTED:
        wanted = f"must match at most {MOST_COUNTED:,} runs; narrow the filter"
        raise InvalidInput("filter", f"more than {MOST_COUNTED} runs", wanted)
    return found


def check_most(most: int) -> int:
    if not 1 <= most <= MOST_BATCH:
        raise InvalidInput("most", most, f"must be 1 to {MOST_BATCH}")
    return most


def _parse_numbers(token: str) -> tuple[int, int]:
    parts = token.split(".")
    numbers = parts[:2]
    if len(parts) != _PARTS or not all(
        part.isascii() and part.isdigit() and len(part) <= _LONGEST_NUMBER for part in numbers
    ):
        return 0, 0
    return int(numbers[0]), int(numbers[1])


def _seal(action: str, tenant_id: int, which: Which, count: int, moment: int) -> str:
    text = canonical(
        {
            "action": action,
            "tenant": tenant_id,
            **which.said(),
            "count": count,
            "moment": moment,
        }
    )
    return blake2b(text.encode(), digest_size=12, person=b"rota bulk").hexdigest()
