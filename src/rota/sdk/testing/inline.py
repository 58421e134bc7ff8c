"""Runs a job in this process, without a database: one attempt, or all attempts until it ends.

The workers' executor calls the handler, and the workers' code decides about errors and retries
(engine/execution/pipeline.py, core/settlement.py). Only the context differs: it records everything
in memory. Isolation is ignored: a job with `isolation="process"` runs in this process.
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
from rota.core.errors import InvalidInput
from rota.core.executor import Fail, MapMember
from rota.core.outcome import Failed, Guarantee, Outcome, Succeeded
from rota.core.policy import Policy, RetryPolicy
from rota.core.settlement import AttemptedRun, StopReason, settle_run
from rota.core.states import RunState
from rota.core.time import durations
from rota.engine.execution.attempt import Attempt
from rota.engine.execution.pipeline import AttemptPipeline, encode_outcome
from rota.executors.python import Handlers, PythonExecutor
from rota.sdk.app.handlers import Arguments, build_handler
from rota.sdk.app.job import Job
from rota.sdk.testing.clock import Clock
from rota.sdk.testing.context import RecordingContext

# Ends the test of a job that snoozes forever.
ATTEMPTS_LIMIT: Final = 1000
NO_TRANSACTION: Final = (
    "an inline run has no database; test ctx.transaction() with the fixture rota_server"
)


@dataclass(slots=True, kw_only=True)
class InlineAttempt(RecordingContext):
    """A recording context with the other attributes of an attempt that the pipeline uses."""

    executor: Any = None
    payload: Any = None
    start_at: float | None = None
    stop_reason: StopReason | None = None
    policy: Policy = policies.DEFAULT_POLICY
    # Never true: an inline run has no transaction that could complete it.
    is_recorded: bool = False
    is_started: bool = False
    checkpoints: list[Any] = field(default_factory=list)
    # Inline runs have no secrets: a handler receives secret references unresolved.
    names_secrets: bool = False
    secret_mask: None = None

    def read_spec(self) -> Any:
        return self.executor.read(self.kind, self.payload)

    async def checkpoint(self, value: object) -> None:
        # Not super(): a dataclass with slots is created twice, and super() refers to the first.
        await RecordingContext.checkpoint(self, value)
        self.checkpoints.append(json.loads(self.stored_checkpoint or "null"))

    def transaction(self, result: object = None) -> Any:
        del result
        raise Fail(NO_TRANSACTION)


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineAttemptResult:
    """A finished attempt. `result` is the result as the API returns it."""

    number: int
    at: datetime
    outcome: Outcome
    result: Any
    output: str
    progress: tuple[tuple[float, str], ...]
    checkpoints: tuple[Any, ...]
    # The items that it yielded or handed out as the source of a map.
    handed_out: tuple[Any, ...] = ()

    @property
    def succeeded(self) -> bool:
        return isinstance(self.outcome, Succeeded)

    @property
    def error(self) -> str | None:
        """The error as `Type: message`; None if the attempt did not fail."""
        if not isinstance(self.outcome, Failed):
            return None
        return f"{self.outcome.failure.type}: {self.outcome.failure.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHistory:
    """All attempts of a run, and its final state."""

    attempts: tuple[InlineAttemptResult, ...]
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
        times = [attempt.at for attempt in self.attempts]
        return tuple(after - before for before, after in pairwise(times))


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineHandler:
    """A handler with its check, its kind and the options of its job."""

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


def run_inline(job: Any, payload: Any = None, **options: Any) -> InlineAttemptResult:
    """Run one attempt of a job; see `run_inline_async` for the parameters.

    In an async test, await `run_inline_async` instead.
    """
    _refuse_loop("run_inline")
    return asyncio.run(run_inline_async(job, payload, **options))


async def run_inline_async(  # noqa: PLR0913 — the inputs of an attempt
    job: Any,
    payload: Any = None,
    *,
    attempt: int = 1,
    checkpoint: Any = None,
    clock: Clock | None = None,
    members: Mapping[str, Sequence[Any]] | None = None,
    timeout: timedelta | str | None = None,  # noqa: ASYNC109 — of the attempt, as jobs have it
    cancel_after: timedelta | str | None = None,
) -> InlineAttemptResult:
    """Run one attempt. `job` is a job of an app, a plain function, or a handler
    `(context, payload)`; `payload` is an object with its arguments. `checkpoint` is the checkpoint
    of an earlier attempt, `members` are the results that `ctx.members` reads, by step. `timeout`
    and `cancel_after` are real time: the attempt is then asked to stop, as by a worker.
    """
    called = find_inline_handler(job)
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
        stored_checkpoint=None if checkpoint is None else json.dumps(checkpoint),
        maps={step: build_members(results) for step, results in (members or {}).items()},
    )
    await executor.open()
    try:
        with log_from_info():
            ended = await _perform(context, timeout=timeout, cancel_after=cancel_after)
        outcome, result = encode_outcome(ended)
    finally:
        await executor.close()
    return InlineAttemptResult(
        number=attempt,
        at=time.now(),
        outcome=outcome,
        result=None if result is None else json.loads(result),
        output=context.all_output,
        progress=tuple(context.progress_reports),
        checkpoints=tuple(context.checkpoints),
        handed_out=tuple(context.handed_out_items),
    )


@contextmanager
def log_from_info() -> Iterator[None]:
    """Log from INFO on, as a worker does; Python's default level is WARNING."""
    before = logging.root.level
    logging.root.setLevel(min(before, logging.INFO))
    try:
        yield
    finally:
        logging.root.setLevel(before)


def build_members(results: Sequence[Any]) -> list[MapMember]:
    """Build members that succeeded with these results."""
    plain = json.loads(json.dumps(list(results)))
    return [MapMember(index, "succeeded", result) for index, result in enumerate(plain)]


async def _perform(
    context: InlineAttempt,
    *,
    timeout: timedelta | str | None,  # noqa: ASYNC109 — as above
    cancel_after: timedelta | str | None,
) -> Outcome:
    """Perform the attempt, and ask it to stop if it takes too long."""
    limits = [
        (_span(limit, name), reason)
        for limit, name, reason in (
            (timeout, "timeout", StopReason.TIMEOUT),
            (cancel_after, "cancel_after", StopReason.CANCEL),
        )
        if limit is not None
    ]
    task = asyncio.ensure_future(AttemptPipeline().run(cast("Attempt", context)))
    if limits:
        length, reason = min(limits)
        done, _ = await asyncio.wait([task], timeout=length.total_seconds())
        if not done:
            context.stop_reason, context.cancelled = reason, True
            task.cancel()
    return await task


def run_until_ended(job: Any, payload: Any = None, **options: Any) -> RunHistory:
    """Run all attempts of a job; see `run_until_ended_async` for the parameters."""
    _refuse_loop("run_until_ended")
    return asyncio.run(run_until_ended_async(job, payload, **options))


async def run_until_ended_async(
    job: Any,
    payload: Any = None,
    *,
    retries: Any = None,
    deadline: timedelta | str | None = None,
    clock: Clock | None = None,
    chance: Random | None = None,
) -> RunHistory:
    """Run attempt after attempt as a worker would. Retries and snoozes move the clock instead of
    waiting; each attempt gets the checkpoint of the previous one. `retries` has the form of a job's
    option. Default: the job's own. `chance` draws the jitter.
    """
    called = find_inline_handler(job)
    time, rng = clock or Clock(), chance or Random(0)
    policy = _policy(called, retries)
    run = AttemptedRun(
        state=RunState.RUNNING,
        failures=0,
        losses=0,
        guarantee=called.guarantee,
        deadline_at=None if deadline is None else time.now() + _span(deadline, "deadline"),
    )
    attempts: list[InlineAttemptResult] = []
    checkpoint: Any = None
    while len(attempts) < ATTEMPTS_LIMIT:
        latest = await run_inline_async(
            job, payload, attempt=len(attempts) + 1, checkpoint=checkpoint, clock=time
        )
        attempts.append(latest)
        checkpoint = latest.checkpoints[-1] if latest.checkpoints else checkpoint
        settled = settle_run(run, latest.outcome, policy=policy, now=time.now(), rng=rng)
        if settled.ready_at is None:
            return RunHistory(attempts=tuple(attempts), state=settled.state.value)
        time.move_to(settled.ready_at)
        run = AttemptedRun(
            state=RunState.RUNNING,
            failures=settled.failures,
            losses=0,
            guarantee=run.guarantee,
            deadline_at=run.deadline_at,
        )
    wanted = f"the job did not end within {ATTEMPTS_LIMIT} attempts"
    raise InvalidInput("job", called.kind, wanted)


def find_inline_handler(job: Any) -> InlineHandler:
    """Find the handler of a job, a function, or a handler itself."""
    if isinstance(job, Job):
        options = dict(job.declared.options)
        return InlineHandler(
            kind=job.__name__, call=job.handler, check=job.arguments.from_payload, options=options
        )
    if not callable(job):
        wanted = "expected a job, a function, or a handler (context, payload)"
        raise InvalidInput("job", job, wanted)
    kind = getattr(job, "__name__", type(job).__name__)
    if _is_handler(job):
        return InlineHandler(kind=kind, call=job, check=None, options={})
    arguments = Arguments(job)
    return InlineHandler(
        kind=kind, call=build_handler(job, arguments), check=arguments.from_payload, options={}
    )


def _is_handler(function: Callable[..., Any]) -> bool:
    """Whether a function has the signature of a handler: a context and `payload`."""
    names = list(inspect.signature(function).parameters)
    return len(names) == 2 and names[1].strip("_") == "payload"


def _policy(called: InlineHandler, retries: Any) -> RetryPolicy:
    option = called.options.get("retries") if retries is None else retries
    if isinstance(option, RetryPolicy):
        return option
    return read_policy({"retries": option}).retries


def _span(value: timedelta | str, name: str) -> timedelta:
    return value if isinstance(value, timedelta) else durations.parse(value, field=name)


def _refuse_loop(name: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    wanted = f"use `await {name}_async(…)` instead"
    raise InvalidInput(name, "a call inside an event loop", wanted)
