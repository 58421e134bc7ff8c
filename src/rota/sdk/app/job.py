"""A function that was declared as a job. Room: sdk/app.

It is still the function: calling it calls it, here and now. `submit`, `at` and `after` have the
same parameters without the context, and hand them to a server. What serves it is serving.py.
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
from rota.core.submission import within
from rota.core.time import moments
from rota.sdk.app import declaring, waiting
from rota.sdk.app.arguments import Arguments
from rota.sdk.app.contexts import Context, SyncContext
from rota.sdk.app.declaring import Declaration, Declared, Sending
from rota.sdk.app.sending import Made
from rota.sdk.app.serving import Call, call_of
from rota.sdk.app.submission import Submission
from rota.sdk.graph.current import BUILDING, current

if TYPE_CHECKING:
    from rota.sdk.app.app import App
    from rota.sdk.graph.steps import Linked, Step, Steps

# What the function is called with and gives, what is submitted, and what comes of it.
C = ParamSpec("C")
F = TypeVar("F")
P = ParamSpec("P")
R = TypeVar("R")
Q = ParamSpec("Q")
T = TypeVar("T")
# As many as the API takes in one request.
MOST_AT_ONCE: Final = 1_000


@dataclass(slots=True)
class Home:
    """The app that a job belongs to, once it does; shared by a job and its variants."""

    app: "App | None" = None


class Job(Generic[C, F, P, R]):
    """A declared function. `options` gives a variant of it; both are the same job."""

    def __init__(self, function: Callable[C, F], declared: Declared) -> None:
        functools.update_wrapper(self, function)
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.function = function
        self.declared = declared
        self.home = Home()
        self.arguments = Arguments(function)
        self._sending: dict[str, Any] = {}
        if declared.schedule is not None:
            with within("args"):
                self._scheduled_payload(declared.schedule)

    def __call__(self, *args: C.args, **kwargs: C.kwargs) -> F:
        graph = BUILDING.get()
        if graph is not None:
            # In a graph a call is a step, and what it gives stands for the result.
            return cast("F", graph.step_of(self, args, kwargs))
        return self.function(*args, **kwargs)

    def __rshift__(self, other: "Linked") -> "Step | Steps":
        return self.as_step() >> other

    def __rrshift__(self, other: "Linked") -> "Step | Steps":
        return other >> self.as_step()

    def __repr__(self) -> str:
        return f"<job {self.declared.kind or self.__name__}>"

    @property
    def app(self) -> "App":
        if self.home.app is None:
            wanted = 'a job of an app: rota.App("…", jobs=[…]) or app.include(module)'
            raise InvalidInput("job", self.__name__, wanted)
        return self.home.app

    @property
    def kind(self) -> str:
        """By which workers know it: `<app>.<function>` unless it was said."""
        return self.declared.kind or f"{self.app.name}.{self.__name__}"

    @property
    def name(self) -> str:
        """The name of the scheduled job: the kind unless it was said."""
        return self.declared.name or self.kind

    @property
    def handler(self) -> Call:
        """What a worker calls, with a context and what `arguments.read` makes of a payload."""
        return call_of(self.function, self.arguments)

    def draft(self, *args: P.args, **kwargs: P.kwargs) -> dict[str, Any]:
        """The request that `submit` would send. Wrong arguments raise `InvalidInput`."""
        return self._draft(args, kwargs)

    def declaration(self) -> dict[str, Any] | None:
        """The scheduled job as a request; None if nothing was said about when."""
        declared = self.declared
        if declared.schedule is None:
            return None
        options = {**self.app.defaults, **declared.options}
        options.pop("unique", None)  # that is about submissions
        return {
            **options,
            "name": self.name,
            "kind": self.kind,
            "schedule": declared.schedule,
            "payload": self._scheduled_payload(declared.schedule),
        }

    def _scheduled_payload(self, schedule: Mapping[str, Any]) -> dict[str, Any] | None:
        if waiting.is_waiting(schedule):
            return waiting.payload_of(self.arguments, schedule, self.declared.args)
        return self.arguments.payload((), self.declared.args)

    def step(self, *args: Any, **kwargs: Any) -> "Step":
        """A step of the graph that is being built; as calling it, for type checkers that want to
        know of `when`, `map` and `options`, and that values of other steps may be arguments.
        """
        return current().step_of(self, args, kwargs)

    def as_step(self) -> "Step":
        """The step of a job that is only named, as in `extract >> load`."""
        return current().bare(self)

    @property
    def said(self) -> dict[str, Any]:
        """What was said about its runs: by the app, the declaration, and `options`."""
        return {**self.app.defaults, **self.declared.options, **self._sending}

    def options(self, **given: Unpack[Sending]) -> "Job[C, F, P, R]":
        """The same job, submitted in another way: `charge.options(queue="slow").submit(7)`."""
        variant = copy.copy(self)
        variant._sending = {**self._sending, **declaring.sending_of(given)}  # noqa: SLF001 — our own
        return variant

    def submit(self, *args: P.args, **kwargs: P.kwargs) -> Submission[R]:
        """Run it as soon as a worker is free."""
        return self._send(self._draft(args, kwargs))

    def at(self, when: datetime | str, /, *args: P.args, **kwargs: P.kwargs) -> Submission[R]:
        """Run it once, at this time: an aware datetime, or a text with its offset."""
        moment = moments.rfc3339(moments.parse(when, field="when"))
        return self._send(self._draft(args, kwargs, schedule={"at": moment}))

    def after(self, delay: str | timedelta, /, *args: P.args, **kwargs: P.kwargs) -> Submission[R]:
        """Run it once, after this time: a timedelta, or a text such as 10m."""
        schedule = declaring.schedule_of({"after": delay})
        return self._send(self._draft(args, kwargs, schedule=schedule))

    def submit_many(
        self, calls: Iterable[Sequence[Any] | Mapping[str, Any]]
    ) -> list[Submission[R]]:
        """Submit up to 1,000 calls, all or none; each is a tuple of arguments, or a mapping of
        them by name.
        """
        drafts = [self._draft_of(place, call) for place, call in enumerate(calls)]
        if not drafts:
            return []
        if len(drafts) > MOST_AT_ONCE:
            raise InvalidInput("calls", f"{len(drafts)} calls", f"at most {MOST_AT_ONCE} at once")
        if "idempotency_key" in self._sending:
            wanted = "left out: it is for one submission; `unique` may be for many"
            raise InvalidInput("idempotency_key", self._sending["idempotency_key"], wanted)
        return [self._submission(made) for made in self.app.sender.create_many(drafts)]

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
        said = self.said
        said.pop("idempotency_key", None)  # a header of the request, not a field
        if schedule is not None:
            said["schedule"] = schedule
        return {**said, "kind": self.kind, "payload": self.arguments.payload(args, kwargs)}

    def _draft_of(self, place: int, call: Sequence[Any] | Mapping[str, Any]) -> dict[str, Any]:
        with within(f"calls[{place}]"):
            if isinstance(call, Mapping):
                return self._draft((), call)
            if isinstance(call, str) or not isinstance(call, Sequence):
                raise InvalidInput("arguments", call, "a tuple, or a mapping by name")
            return self._draft(call, {})

    def _send(self, draft: Mapping[str, Any]) -> Submission[R]:
        key = self._sending.get("idempotency_key")
        return self._submission(self.app.sender.create(draft, idempotency_key=key))

    def _submission(self, made: Made) -> Submission[R]:
        return Submission(
            job_id=made.job_id,
            run_id=made.run_id,
            deduplicated=made.deduplicated,
            sender=self.app.sender,
            convert=self.arguments.result,
        )


class Decorator:
    """Turns a function into a `Job`. The context, if it takes one, is its first parameter: then
    type checkers know that `submit` goes without it.
    """

    def __init__(
        self, declared: Declared, adopt: Callable[[Job[..., Any, ..., Any]], None]
    ) -> None:
        self._declared = declared
        self._adopt = adopt

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
            raise InvalidInput("job", function.__name__, "a function that is not a job yet")
        made: Job[..., Any, ..., Any] = Job(function, self._declared)
        self._adopt(made)
        return made


def refuse_bare(functions: Sequence[object]) -> None:
    """`@app.job` without parentheses is an easy slip."""
    if functions:
        raise InvalidInput("job", functions[0], "parentheses after it: @app.job(), @rota.job()")


def job(*bare: Never, **given: Unpack[Declaration]) -> Decorator:
    """Declare a job for an app that collects it later: `rota.App("…", jobs=[…])`."""
    refuse_bare(bare)
    return Decorator(declaring.read(given), adopt=lambda _made: None)
