"""Submissions that go nowhere: for tests of code that submits jobs. Room: sdk/testing.

In place of the way to the server, an app gets one that writes down what was handed in. Arguments
are checked as always; nothing runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec

from rota.core.errors import InvalidInput, cut
from rota.sdk.app.app import App
from rota.sdk.app.sending import Made

SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """One job that was handed in; `draft` has the fields of the request."""

    job_id: str
    run_id: str | None
    draft: Mapping[str, Any]
    idempotency_key: str | None = None
    deduplicated: bool = False

    @property
    def kind(self) -> str:
        return str(self.draft.get("kind"))

    @property
    def payload(self) -> Any:
        return self.draft.get("payload")

    @property
    def schedule(self) -> Mapping[str, Any] | None:
        """When it is to run; None for at once."""
        return self.draft.get("schedule")

    def __str__(self) -> str:
        when = "" if self.schedule is None else f" by {dict(self.schedule)}"
        return f"{self.kind} with {cut(self.payload)}{when}"


class Submissions:
    """What was submitted, in order. It stands in for the sender of an app."""

    def __init__(self) -> None:
        self.all: list[Submitted] = []

    def __iter__(self) -> Iterator[Submitted]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def of(self, job: Any) -> list[Submitted]:
        """Those of one job, or of a kind."""
        kind = job if isinstance(job, str) else job.kind
        return [each for each in self.all if each.kind == kind]

    def assert_submitted(
        self, job: Any, /, *, times: int | None = None, **arguments: Any
    ) -> Submitted:
        """Fail unless the job was submitted with these arguments, among others perhaps; return the
        first such submission. `times` is how often exactly.
        """
        wanted = msgspec.to_builtins(arguments, str_keys=True)
        found = [each for each in self.of(job) if _has(each.payload, wanted)]
        if not found or (times is not None and len(found) != times):
            said = f" with {wanted}" if wanted else ""
            often = "" if times is None else f" {times} times"
            name = job if isinstance(job, str) else job.kind
            raise AssertionError(f"{name} was not submitted{often}{said}; {self._shown()}")
        return found[0]

    def assert_nothing_submitted(self) -> None:
        if self.all:
            raise AssertionError(f"something was submitted; {self._shown()}")

    def _shown(self) -> str:
        if not self.all:
            return "nothing was"
        more = f" and {len(self.all) - SHOWN} more" if len(self.all) > SHOWN else ""
        return "submitted were: " + "; ".join(str(each) for each in self.all[:SHOWN]) + more

    # --- what a job asks of its sender

    def create(self, draft: Mapping[str, Any], *, idempotency_key: str | None) -> Made:
        number = len(self.all) + 1
        made = Submitted(
            job_id=f"job_{number:032x}",
            run_id=f"run_{number:032x}" if draft.get("schedule") is None else None,
            draft=dict(draft),
            idempotency_key=idempotency_key,
        )
        self.all.append(made)
        return made

    def create_many(self, drafts: Sequence[Mapping[str, Any]]) -> list[Made]:
        return [self.create(draft, idempotency_key=None) for draft in drafts]

    def run(self, run_id: str) -> NoReturn:
        raise _nothing_runs(run_id)

    def latest_run(self, job_id: str) -> NoReturn:
        raise _nothing_runs(job_id)

    def cancel(self, run_id: str, *, reason: str | None) -> None:
        del run_id, reason


@contextmanager
def recording(*apps: App) -> Iterator[Submissions]:
    """Write down what these apps submit, until the block is left."""
    submissions = Submissions()
    senders = [app.sender for app in apps]
    for app in apps:
        app.sender = submissions
    try:
        yield submissions
    finally:
        for app, sender in zip(apps, senders, strict=True):
            app.sender = sender


def _nothing_runs(id_: str) -> InvalidInput:
    wanted = "a server: here submissions are written down and nothing runs (run_inline runs a job)"
    return InvalidInput("id", id_, wanted)


def _has(payload: Any, wanted: Mapping[str, Any]) -> bool:
    if not wanted:
        return True
    if not isinstance(payload, Mapping):
        return False
    return all(key in payload and payload[key] == value for key, value in wanted.items())
