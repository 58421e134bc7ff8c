"""Wraps a function that was declared as a job.

Calling a job calls its function, in this process. `submit`, `at` and `after` take the same
parameters without the context and send them to the server. serving.py runs it on a worker.
"""

import asyncio
import copy
import functools
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Generic,
    Never,
    ParamSpec,
    TypeVar,
    Unpack,
    cast,
    overload,
)

from rota.core.errors import InvalidInput
from rota.core.submissions import prefix_errors
from rota.core.time import moments
from rota.sdk.app import declaration, event_jobs
from rota.sdk.app.contexts import Context, SyncContext
from rota.sdk.app.declaration import DeclarationOptions, JobDeclaration, SubmissionOptions
from rota.sdk.app.handlers import Arguments, HandlerFunction, build_handler
from rota.sdk.app.sender import JobReceipt
from rota.sdk.app.submission import Submission
from rota.sdk.graph.current import CURRENT_BUILDER, require_builder

if TYPE_CHECKING:
    from rota.sdk.app.app import App
    from rota.sdk.graph.steps import Linked, Step, Steps

# C, F: parameters and return value of a call. P, R: parameters and result of a submission.
C = ParamSpec("C")
F = TypeVar("F")
P = ParamSpec("P")
R = TypeVar("R")
Q = ParamSpec("Q")
T = TypeVar("T")
# The limit of the API for one request.
CALLS_PER_REQUEST_MAX: Final = 1_000


@dataclass(slots=True)
class AppReference:
    """The app of a job, or None before it is added to one. A job and its variants share it."""

    app: "App | None" = None


class Job(Generic[C, F, P, R]):
    """A declared function. `options` returns a variant with other options of the same job."""

    def __init__(self, function: Callable[C, F], declared: JobDeclaration) -> None:
        functools.update_wrapper(self, function)
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.function = function
        self.declared = declared
        self.app_reference = AppReference()
        self.arguments = Arguments(function)
        self._sending: dict[str, Any] = {}
        if declared.schedule is not None:
            with prefix_errors("args"):
                self._scheduled_payload(declared.schedule)

    def __call__(self, *args: C.args, **kwargs: C.kwargs) -> F:
        graph = CURRENT_BUILDER.get()
        if graph is not None:
            # While a graph is built, a call adds a step and returns a placeholder for its result.
            return cast("F", graph.add_job_step(self, args, kwargs))
        return self.function(*args, **kwargs)

    def __rshift__(self, other: "Linked") -> "Step | Steps":
        return self.as_step() >> other

    def __rrshift__(self, other: "Linked") -> "Step | Steps":
        return other >> self.as_step()

    def __repr__(self) -> str:
        return f"<job {self.declared.kind or self.__name__}>"

    @property
    def app(self) -> "App":
        if self.app_reference.app is None:
            wanted = (
                'the job belongs to no app; add it with rota.App("…", jobs=[…]) '
                "or app.include(module)"
            )
            raise InvalidInput("job", self.__name__, wanted)
        return self.app_reference.app

    @property
    def kind(self) -> str:
        """The kind under which workers serve the job. Default: `<app>.<function>`."""
        return self.declared.kind or f"{self.app.name}.{self.__name__}"

    @property
    def name(self) -> str:
        """The name of the scheduled job. Default: the kind."""
        return self.declared.name or self.kind

    @property
    def handler(self) -> HandlerFunction:
        """The function that a worker calls with a context and the result of `arguments.read`."""
        return build_handler(self.function, self.arguments)

    def draft(self, *args: P.args, **kwargs: P.kwargs) -> dict[str, Any]:
        """The request body that `submit` would send. Wrong arguments raise `InvalidInput`."""
        return self._draft(args, kwargs)

    def declaration(self) -> dict[str, Any] | None:
        """The scheduled job as a request body; None if it has no schedule."""
        declared = self.declared
        if declared.schedule is None:
            return None
        options = {**self.app.defaults, **declared.options}
        options.pop("unique", None)  # applies to submissions only
        return {
            **options,
            "name": self.name,
            "kind": self.kind,
            "schedule": declared.schedule,
            "payload": self._scheduled_payload(declared.schedule),
        }

    def _scheduled_payload(self, schedule: Mapping[str, Any]) -> dict[str, Any] | None:
        if event_jobs.is_event_triggered(schedule):
            return event_jobs.build_event_payload(self.arguments, schedule, self.declared.args)
        return self.arguments.to_payload((), self.declared.args)

    def step(self, *args: Any, **kwargs: Any) -> "Step":
        """Add a step to the graph that is being built. The same as calling the job, but typed: type
        checkers know `when`, `map` and `options` and accept values of other steps as arguments.
        """
        return require_builder().add_job_step(self, args, kwargs)

    def as_step(self) -> "Step":
        """The step of a job that is used without a call, as in `extract >> load`."""
        return require_builder().add_uncalled_job(self)

    @property
    def run_options(self) -> dict[str, Any]:
        """The options of its runs, from the app, the declaration and `options`."""
        return {**self.app.defaults, **self.declared.options, **self._sending}

    def options(self, **options: Unpack[SubmissionOptions]) -> "Job[C, F, P, R]":
        """Return this job with other options: `charge.options(queue="slow").submit(7)`."""
        variant = copy.copy(self)
        merged = {**self._sending, **declaration.read_submission_options(options)}
        variant._sending = merged  # noqa: SLF001 — of the same class
        return variant

    def submit(self, *args: P.args, **kwargs: P.kwargs) -> Submission[R]:
        """Submit a run that starts as soon as a worker is free."""
        return self._send(self._draft(args, kwargs))

    def at(self, when: datetime | str, /, *args: P.args, **kwargs: P.kwargs) -> Submission[R]:
        """Submit a run for this time: an aware datetime, or a string with a UTC offset."""
        moment = moments.to_rfc3339(moments.parse(when, field="when"))
        return self._send(self._draft(args, kwargs, schedule={"at": moment}))

    def after(self, delay: str | timedelta, /, *args: P.args, **kwargs: P.kwargs) -> Submission[R]:
        """Submit a run that starts after this delay: a timedelta, or a string such as 10m."""
        schedule = declaration.build_schedule({"after": delay})
        return self._send(self._draft(args, kwargs, schedule=schedule))

    def submit_many(
        self, calls: Iterable[Sequence[Any] | Mapping[str, Any]]
    ) -> list[Submission[R]]:
        """Submit up to 1,000 calls in one transaction. Each call is a tuple of positional arguments
        or a mapping of arguments by name.
        """
        drafts = [self._draft_of(index, call) for index, call in enumerate(calls)]
        if not drafts:
            return []
        if len(drafts) > CALLS_PER_REQUEST_MAX:
            wanted = f"at most {CALLS_PER_REQUEST_MAX} calls per submission"
            raise InvalidInput("calls", f"{len(drafts)} calls", wanted)
        if "idempotency_key" in self._sending:
            wanted = "an idempotency key identifies one submission; for several, use `unique`"
            raise InvalidInput("idempotency_key", self._sending["idempotency_key"], wanted)
        return [self._submission(created) for created in self.app.sender.create_many(drafts)]

    async def submit_async(self, *args: P.args, **kwargs: P.kwargs) -> Submission[R]:
        return await asyncio.to_thread(self.submit, *args, **kwargs)

    async def at_async(
        self, when: datetime | str, /, *args: P.args, **kwargs: P.kwargs
    ) -> Submission[R]:
        return await asyncio.to_thread(self.at, when, *args, **kwargs)

    async def after_async(
        self, delay: str | timedelta, /, *args: P.args, **kwargs: P.kwargs
    ) -> Submission[R]:
        return await asyncio.to_thread(self.after, delay, *args, **kwargs)

    async def submit_many_async(
        self, calls: Iterable[Sequence[Any] | Mapping[str, Any]]
    ) -> list[Submission[R]]:
        return await asyncio.to_thread(self.submit_many, calls)

    def _draft(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        *,
        schedule: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        options = self.run_options
        options.pop("idempotency_key", None)  # a header of the request, not a field
        if schedule is not None:
            options["schedule"] = schedule
        return {**options, "kind": self.kind, "payload": self.arguments.to_payload(args, kwargs)}

    def _draft_of(self, index: int, call: Sequence[Any] | Mapping[str, Any]) -> dict[str, Any]:
        with prefix_errors(f"calls[{index}]"):
            if isinstance(call, Mapping):
                return self._draft((), call)
            if isinstance(call, str) or not isinstance(call, Sequence):
                wanted = "expected a tuple of arguments, or a mapping of arguments by name"
                raise InvalidInput("arguments", call, wanted)
            return self._draft(call, {})

    def _send(self, draft: Mapping[str, Any]) -> Submission[R]:
        key = self._sending.get("idempotency_key")
        return self._submission(self.app.sender.create(draft, idempotency_key=key))

    def _submission(self, created: JobReceipt) -> Submission[R]:
        return Submission(
            job_id=created.job_id,
            run_id=created.run_id,
            deduplicated=created.deduplicated,
            sender=self.app.sender,
            convert=self.arguments.convert_result,
        )


class JobDecorator:
    """Turns a function into a `Job`. If the function takes the context as its first parameter, type
    checkers know that `submit` omits it.
    """

    def __init__(
        self, declared: JobDeclaration, register: Callable[[Job[..., Any, ..., Any]], None]
    ) -> None:
        self._declared = declared
        self._adopt = register

    @overload
    def __call__(
        self, function: Callable[Concatenate[Context, Q], Coroutine[Any, Any, T]], /
    ) -> Job[Concatenate[Context, Q], Coroutine[Any, Any, T], Q, T]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[SyncContext, Q], T], /
    ) -> Job[Concatenate[SyncContext, Q], T, Q, T]: ...
    @overload
    def __call__(
        self, function: Callable[Q, Coroutine[Any, Any, T]], /
    ) -> Job[Q, Coroutine[Any, Any, T], Q, T]: ...
    @overload
    def __call__(self, function: Callable[Q, T], /) -> Job[Q, T, Q, T]: ...

    def __call__(self, function: Callable[..., Any], /) -> Job[..., Any, ..., Any]:
        if isinstance(function, Job):
            wanted = "it is already a job; expected a plain function"
            raise InvalidInput("job", function.__name__, wanted)
        job: Job[..., Any, ..., Any] = Job(function, self._declared)
        self._adopt(job)
        return job


def refuse_missing_parentheses(functions: Sequence[object]) -> None:
    """Refuse a decorator without parentheses, such as `@app.job`."""
    if functions:
        raise InvalidInput("job", functions[0], "add parentheses: @app.job() or @rota.job()")


def job(*bare: Never, **options: Unpack[DeclarationOptions]) -> JobDecorator:
    """Declare a job and add it to an app later: `rota.App("…", jobs=[…])`."""
    refuse_missing_parentheses(bare)
    return JobDecorator(declaration.read_declaration(options), register=lambda _job: None)
