"""Records submissions instead of sending them, for tests of code that submits jobs.

It replaces the sender of an app. Arguments are checked as usual; nothing runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec

from rota.core.errors import InvalidInput, shorten_value
from rota.sdk.app.app import App
from rota.sdk.app.sender import JobReceipt

SHOWN_SUBMISSIONS_MAX = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSubmission:
    """A recorded submission; `draft` has the fields of the request."""

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
        """The schedule of the run; None if it runs at once."""
        return self.draft.get("schedule")

    def __str__(self) -> str:
        schedule = "" if self.schedule is None else f", schedule {dict(self.schedule)}"
        return f"{self.kind} with {shorten_value(self.payload)}{schedule}"


class Submissions:
    """The recorded submissions, in order. It replaces the sender of an app."""

    def __init__(self) -> None:
        self.all: list[RecordedSubmission] = []

    def __iter__(self) -> Iterator[RecordedSubmission]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def of(self, job: Any) -> list[RecordedSubmission]:
        """The submissions of one job, or of a kind."""
        kind = job if isinstance(job, str) else job.kind
        return [submission for submission in self.all if submission.kind == kind]

    def assert_submitted(
        self, job: Any, /, *, times: int | None = None, **arguments: Any
    ) -> RecordedSubmission:
        """Fail if the job was not submitted with at least these arguments; return the first such
        submission. `times` is the exact number of such submissions.
        """
        wanted = msgspec.to_builtins(arguments, str_keys=True)
        matching = [one for one in self.of(job) if _contains(one.payload, wanted)]
        if not matching or (times is not None and len(matching) != times):
            payload = f" with {wanted}" if wanted else ""
            count = "" if times is None else f" {times} times"
            name = job if isinstance(job, str) else job.kind
            raise AssertionError(f"{name} was not submitted{count}{payload}; {self._describe()}")
        return matching[0]

    def assert_nothing_submitted(self) -> None:
        if self.all:
            raise AssertionError(f"expected no submissions; {self._describe()}")

    def _describe(self) -> str:
        if not self.all:
            return "nothing was submitted"
        more = (
            f" and {len(self.all) - SHOWN_SUBMISSIONS_MAX} more"
            if len(self.all) > SHOWN_SUBMISSIONS_MAX
            else ""
        )
        return (
            "submitted: " + "; ".join(str(one) for one in self.all[:SHOWN_SUBMISSIONS_MAX]) + more
        )

    # --- the interface of a sender

    def create(self, draft: Mapping[str, Any], *, idempotency_key: str | None) -> JobReceipt:
        number = len(self.all) + 1
        submission = RecordedSubmission(
            job_id=f"job_{number:032x}",
            run_id=f"run_{number:032x}" if draft.get("schedule") is None else None,
            draft=dict(draft),
            idempotency_key=idempotency_key,
        )
        self.all.append(submission)
        return submission

    def create_many(self, drafts: Sequence[Mapping[str, Any]]) -> list[JobReceipt]:
        return [self.create(draft, idempotency_key=None) for draft in drafts]

    def run(self, run_id: str) -> NoReturn:
        raise _nothing_runs(run_id)

    def latest_run(self, job_id: str) -> NoReturn:
        raise _nothing_runs(job_id)

    def cancel(self, run_id: str, *, reason: str | None) -> None:
        del run_id, reason


@contextmanager
def recording(*apps: App) -> Iterator[Submissions]:
    """Record what these apps submit inside the block."""
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
    wanted = "submissions are only recorded and nothing runs; use run_inline to run a job"
    return InvalidInput("id", id_, wanted)


def _contains(payload: Any, wanted: Mapping[str, Any]) -> bool:
    if not wanted:
        return True
    if not isinstance(payload, Mapping):
        return False
    return all(key in payload and payload[key] == value for key, value in wanted.items())
