"""Runs a job here and now, without a database: one attempt, or all until it has ended.

Room: sdk/testing. The handler is called by the executor that workers use, what it raises is judged
by the code that workers use (flow/execute/performing.py, core/settle.py); only the context is one
that keeps everything in memory. Isolation is left out: a job that asks for a process of its own
runs in this one.
"""

import asyncio
import inspect
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any, Final, cast

from rota.contract.policy import read_policy
from rota.core import policy as policies
from rota.core.attempt import Stopping
from rota.core.errors import InvalidInput
from rota.core.executor import Fail, Member
from rota.core.outcome import Failed, Guarantee, Outcome, Succeeded
from rota.core.policy import Policy
from rota.core.retry import Retries
from rota.core.settle import Attempted, settle
from rota.core.states import RunState
from rota.core.time import durations
from rota.executors.python import Handlers, PythonExecutor
from rota.flow.execute.attempt import Attempt
from rota.flow.execute.performing import perform, result_of
from rota.sdk.app.arguments import Arguments
from rota.sdk.app.job import Job
from rota.sdk.app.serving import call_of
from rota.sdk.testing.clock import Clock
from rota.sdk.testing.context import RecordingContext

# A job that snoozes for ever must not keep a test for ever.
MOST_ATTEMPTS: Final = 1000
NO_TRANSACTION: Final = (
    "an inline run has no database: test what needs ctx.transaction() with the fixture rota_server"
)


@dataclass(slots=True, kw_only=True)
class InlineAttempt(RecordingContext):
    """What `perform` asks of an attempt, beside the context of it."""

    executor: Any = None
    payload: Any = None
    start_at: float | None = None
    stopping: Stopping | None = None
    policy: Policy = policies.USUAL
    # An inline run has no transaction that could complete it.
    is_recorded: bool = False
    is_started: bool = False
    checkpoints: list[Any] = field(default_factory=list)
    # There are no secrets here: a handler gets the reference as it is.
    names_secrets: bool = False
    veil: None = None

    def read(self) -> Any:
        return self.executor.read(self.kind, self.payload)

    async def checkpoint(self, value: object) -> None:
        # Named, because a dataclass with slots is made twice and `super()` means the first.
        await RecordingContext.checkpoint(self, value)
        self.checkpoints.append(json.loads(self.stored or "null"))

    def transaction(self, result: object = None) -> Any:
        del result
        raise Fail(NO_TRANSACTION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One attempt that has ended. `result` is what a reader of the API would get."""

    number: int
    at: datetime
    outcome: Outcome
    result: Any
    output: str
    progress: tuple[tuple[float, str], ...]
    checkpoints: tuple[Any, ...]
    # What it yielded or handed out, as the source of a map.
    handed_out: tuple[Any, ...] = ()

    @property
    def succeeded(self) -> bool:
        return isinstance(self.outcome, Succeeded)

    @property
    def error(self) -> str | None:
        """`Type: message` of what failed."""
        if not isinstance(self.outcome, Failed):
            return None
        return f"{self.outcome.failure.type}: {self.outcome.failure.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All attempts of a run, and the state that it ended in."""

    attempts: tuple[Ran, ...]
    state: str

    @property
    def succeeded(self) -> bool:
        return self.attempts[-1].succeeded

    @property
    def result(self) -> Any:
        return self.attempts[-1].result

    @property
    def delays(self) -> tuple[timedelta, ...]:
        """The time from each attempt to the next."""
        times = [each.at for each in self.attempts]
        return tuple(after - before for before, after in pairwise(times))


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What to call: a handler, its check, and the kind it would be known by."""

    kind: str
    call: Callable[..., Any]
    check: Callable[[Any], Any] | None
    options: Mapping[str, Any]

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.options.get("guarantee", Guarantee.AT_LEAST_ONCE))

    def executor(self) -> PythonExecutor:
        handlers = Handlers()
        handlers.handler(self.kind, check=self.check)(self.call)
        return PythonExecutor(handlers)


def run_inline(job: Any, payload: Any = None, **given: Any) -> Ran:
    """Run one attempt of a job and tell how it ended; `run_inline_async` says what may be given.

    In a test that is itself async, await `run_inline_async` instead.
    """
    _refuse_loop("run_inline")
    return asyncio.run(run_inline_async(job, payload, **given))


async def run_inline_async(  # noqa: PLR0913 — all that an attempt may be told
    job: Any,
    payload: Any = None,
    *,
    attempt: int = 1,
    checkpoint: Any = None,
    clock: Clock | None = None,
    members: Mapping[str, Sequence[Any]] | None = None,
    timeout: timedelta | str | None = None,  # noqa: ASYNC109 — of the attempt, as jobs have it
    cancel_after: timedelta | str | None = None,
) -> Ran:
    """Run one attempt. `job` is a job of an app, a function as one is made of, or a handler
    `(context, payload)`; `payload` is the object of its arguments. `checkpoint` is what an earlier
    attempt left, `members` the results that `ctx.members` reads, by step. `timeout` and
    `cancel_after` are real time: the attempt is asked to stop then, as a worker asks.
    """
    called = called_of(job)
    time = clock or Clock()
    executor = called.executor()
    context = InlineAttempt(
        executor=executor,
        payload=json.loads(json.dumps(payload)),
        kind=called.kind,
        policy=Policy(guarantee=called.guarantee),
        attempt=attempt,
        scheduled_at=time.now(),
        due_at=time.now(),
        stored=None if checkpoint is None else json.dumps(checkpoint),
        maps={step: maps_of(results) for step, results in (members or {}).items()},
    )
    await executor.open()
    try:
        with heard():
            ended = await _stopped(context, timeout=timeout, cancel_after=cancel_after)
        outcome, result = result_of(ended)
    finally:
        await executor.close()
    return Ran(
        number=attempt,
        at=time.now(),
        outcome=outcome,
        result=None if result is None else json.loads(result),
        output=context.everything,
        progress=tuple(context.told),
        checkpoints=tuple(context.checkpoints),
        handed_out=tuple(context.handed),
    )


@contextmanager
def heard() -> Iterator[None]:
    """Records count from INFO on, as in a worker; at Python's usual level they would not."""
    before = logging.root.level
    logging.root.setLevel(min(before, logging.INFO))
    try:
        yield
    finally:
        logging.root.setLevel(before)


def maps_of(results: Sequence[Any]) -> list[Member]:
    """Members that succeeded with these results."""
    plain = json.loads(json.dumps(list(results)))
    return [Member(index, "succeeded", result) for index, result in enumerate(plain)]


async def _stopped(
    context: InlineAttempt,
    *,
    timeout: timedelta | str | None,  # noqa: ASYNC109 — as above
    cancel_after: timedelta | str | None,
) -> Outcome:
    """Perform the attempt, and ask it to stop if it takes too long."""
    limits = [
        (_span(limit, name), why)
        for limit, name, why in (
            (timeout, "timeout", Stopping.TIMEOUT),
            (cancel_after, "cancel_after", Stopping.CANCEL),
        )
        if limit is not None
    ]
    task = asyncio.ensure_future(perform(cast("Attempt", context)))
    if limits:
        length, why = min(limits)
        done, _ = await asyncio.wait([task], timeout=length.total_seconds())
        if not done:
            context.stopping, context.cancelled = why, True
            task.cancel()
    return await task


def run_until_ended(job: Any, payload: Any = None, **given: Any) -> Story:
    """Run all attempts of a job; `run_until_ended_async` says what may be given."""
    _refuse_loop("run_until_ended")
    return asyncio.run(run_until_ended_async(job, payload, **given))


async def run_until_ended_async(
    job: Any,
    payload: Any = None,
    *,
    retries: Any = None,
    deadline: timedelta | str | None = None,
    clock: Clock | None = None,
    chance: Random | None = None,
) -> Story:
    """Run attempt after attempt as a worker would: retries and snoozes wait on the clock, which is
    moved; checkpoints go from one attempt to the next. `retries` is what a job may say, and what
    this one says unless it is given; `chance` draws the jitter.
    """
    called = called_of(job)
    time, luck = clock or Clock(), chance or Random(0)
    policy = _policy(called, retries)
    run = Attempted(
        state=RunState.RUNNING,
        failures=0,
        losses=0,
        guarantee=called.guarantee,
        deadline_at=None if deadline is None else time.now() + _span(deadline, "deadline"),
    )
    ran: list[Ran] = []
    checkpoint: Any = None
    while len(ran) < MOST_ATTEMPTS:
        ran.append(
            await run_inline_async(
                job, payload, attempt=len(ran) + 1, checkpoint=checkpoint, clock=time
            )
        )
        checkpoint = ran[-1].checkpoints[-1] if ran[-1].checkpoints else checkpoint
        settled = settle(run, ran[-1].outcome, policy=policy, now=time.now(), chance=luck)
        if settled.ready_at is None:
            return Story(attempts=tuple(ran), state=settled.state.value)
        time.move_to(settled.ready_at)
        run = Attempted(
            state=RunState.RUNNING,
            failures=settled.failures,
            losses=0,
            guarantee=run.guarantee,
            deadline_at=run.deadline_at,
        )
    raise InvalidInput("job", called.kind, f"a job that ends within {MOST_ATTEMPTS} attempts")


def called_of(job: Any) -> Called:
    """What to call for a job, a function, or a handler."""
    if isinstance(job, Job):
        options = dict(job.declared.options)
        return Called(
            kind=job.__name__, call=job.handler, check=job.arguments.read, options=options
        )
    if not callable(job):
        raise InvalidInput("job", job, "a job, a function, or a handler (context, payload)")
    kind = getattr(job, "__name__", type(job).__name__)
    if _is_handler(job):
        return Called(kind=kind, call=job, check=None, options={})
    arguments = Arguments(job)
    return Called(kind=kind, call=call_of(job, arguments), check=arguments.read, options={})


def _is_handler(function: Callable[..., Any]) -> bool:
    """Whether it is a handler of `Handlers`: a context, and `payload`."""
    names = list(inspect.signature(function).parameters)
    return len(names) == 2 and names[1].strip("_") == "payload"


def _policy(called: Called, retries: Any) -> Retries:
    said = called.options.get("retries") if retries is None else retries
    if isinstance(said, Retries):
        return said
    return read_policy({"retries": said}).retries


def _span(value: timedelta | str, name: str) -> timedelta:
    return value if isinstance(value, timedelta) else durations.parse(value, field=name)


def _refuse_loop(name: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise InvalidInput(name, "a call inside an event loop", f"`await {name}_async(…)` there")
