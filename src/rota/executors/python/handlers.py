"""Which function carries out which kind of job, and how it is kept apart. Room: executors/python.

A registry is a value that somebody makes and passes on: importing a module registers nothing
anywhere else. Nothing here calls a handler.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeVar, get_args

from rota.core.describing import TaskDescription, summarize_docstring
from rota.core.errors import InvalidInput
from rota.executors.python import sources

MB: Final = 2**20
USUAL_MEMORY: Final = 512 * MB
# An interpreter with asyncio and msgspec needs about 20 MB of its own.
LEAST_MEMORY: Final = 64 * MB
LONGEST_KIND: Final = 200
SHOWN_KINDS: Final = 5

Isolation = Literal["none", "process"]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A function for one kind. `memory` is what its child process may use, in bytes."""

    kind: str
    call: Callable[[Any, Any], Any]
    is_async: bool
    in_child: bool
    memory: int
    check: Callable[[Any], Any] | None
    schema: Mapping[str, Any] | None
    description: TaskDescription
    # The hot path asks this one question, so its answer is kept.
    on_loop: bool


class Spec(NamedTuple):
    """What an attempt needs: a handler and its payload, checked."""

    handler: Handler
    payload: Any


class Handlers:
    """The handlers of a worker, by kind."""

    def __init__(self) -> None:
        self._by_kind: dict[str, Handler] = {}

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self._by_kind)

    def __iter__(self) -> Iterator[Handler]:
        return iter(self._by_kind.values())

    def handler(
        self,
        kind: str,
        *,
        isolation: Isolation = "none",
        memory: int | None = None,
        check: Callable[[Any], Any] | None = None,
        schema: Mapping[str, Any] | None = None,
        description: TaskDescription | None = None,
    ) -> Callable[[F], F]:
        """Register the decorated function `(context, payload)` for a kind.

        `async def` runs on the loop of the attempts, `def` in a thread, either one in a process of
        its own with `isolation="process"`. One that yields is the source of a map. `check` gets the
        payload before the attempt begins and returns what the handler gets; it refuses by raising
        `InvalidInput`.
        `schema` is the payload as JSON Schema, which the dashboard makes a form of.
        `description` says what the task does. Default: the first paragraph of the docstring.
        """
        self._refuse_kind(kind)
        in_child = _chosen(isolation) == "process"
        room = _memory(memory, in_child=in_child)

        def register(call: F) -> F:
            is_async = _is_async(call)
            self._refuse_kind(kind)  # once more: a decorator may be kept and used twice
            self._by_kind[kind] = Handler(
                kind=kind,
                call=sources.handing_out(call) if sources.yields(call) else call,
                is_async=is_async,
                in_child=in_child,
                memory=room,
                check=check,
                schema=schema,
                description=description or _describe(call),
                on_loop=is_async and not in_child,
            )
            return call

        return register

    def find(self, kind: str) -> Handler:
        handler = self._by_kind.get(kind)
        if handler is None:
            raise InvalidInput("kind", kind, f"a kind with a handler: {self._some_kinds()}")
        return handler

    def read(self, kind: str, payload: Any) -> Spec:
        handler = self._by_kind.get(kind) or self.find(kind)
        if handler.check is None:
            return Spec(handler, payload)
        checked = handler.check(payload)
        # A child is sent the payload as it came and checks it again: what a check returns may be
        # any object, and only JSON crosses over.
        return Spec(handler, payload if handler.in_child else checked)

    def _refuse_kind(self, kind: object) -> None:
        if not isinstance(kind, str) or not 1 <= len(kind) <= LONGEST_KIND:
            raise InvalidInput("kind", kind, f"a name of 1 to {LONGEST_KIND} characters")
        if not kind.isprintable():
            raise InvalidInput("kind", kind, "a name without control characters")
        if kind in self._by_kind:
            raise InvalidInput("kind", kind, "a kind that has no handler yet")

    def _some_kinds(self) -> str:
        if not self._by_kind:
            return "none is registered"
        shown = sorted(self._by_kind)[:SHOWN_KINDS]
        more = len(self._by_kind) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")


def _describe(call: Callable[..., Any]) -> TaskDescription:
    """Describe a task by its function; the docstring of another callable is that of its class."""
    docstring = call.__doc__ if inspect.isroutine(call) else None
    return TaskDescription(text=summarize_docstring(docstring))


def _chosen(isolation: object) -> Isolation:
    for choice in get_args(Isolation):
        if isolation == choice:
            return choice  # type: ignore[no-any-return] # a literal, says get_args
    raise InvalidInput("isolation", isolation, "'none' or 'process'")


def _memory(memory: int | None, *, in_child: bool) -> int:
    if memory is None:
        return USUAL_MEMORY
    if not in_child:
        raise InvalidInput("memory", memory, "left out: only a process of its own has a limit")
    if memory < LEAST_MEMORY:
        raise InvalidInput("memory", memory, f"bytes, at least {LEAST_MEMORY}")
    return memory


def _is_async(call: object) -> bool:
    if not callable(call):
        raise InvalidInput("handler", call, "a function of (context, payload)")
    # An object with `async def __call__` is as good as a function.
    faces = (call, getattr(call, "__call__", None))  # noqa: B004 — its own method is wanted
    return sources.yields_async(call) or any(inspect.iscoroutinefunction(each) for each in faces)
