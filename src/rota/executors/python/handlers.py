"""Registers the functions that run the kinds of jobs, with their isolation.

A registry is a value that the application creates and passes on: importing a module has no global
effect. The registry never calls a handler.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeVar, get_args

from rota.core.errors import InvalidInput
from rota.core.kind_descriptions import TaskDescription, summarize_docstring
from rota.executors.python import map_sources

MB: Final = 2**20
MEMORY_DEFAULT_BYTES: Final = 512 * MB
# An interpreter with asyncio and msgspec needs about 20 MB of its own.
MEMORY_MIN_BYTES: Final = 64 * MB
KIND_MAX_CHARACTERS: Final = 200
SHOWN_KINDS_MAX: Final = 5

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
    # Stored because the hot path reads it.
    on_loop: bool


class HandlerCall(NamedTuple):
    """A handler and its checked payload: all that an attempt needs."""

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

        `async def` runs on the event loop of the attempts, `def` in a thread; with
        `isolation="process"` both run in a child process. A generator function is the source of a
        map. `check` gets the payload before the attempt begins and returns the value for the
        handler; it raises `InvalidInput` to refuse the payload.
        `schema` is the JSON Schema of the payload, from which the dashboard builds a form.
        `description` says what the task does. Default: the first paragraph of the docstring.
        """
        self._refuse_kind(kind)
        in_child = _check_isolation(isolation) == "process"
        memory_limit = _check_memory(memory, in_child=in_child)

        def register(call: F) -> F:
            is_async = _is_async(call)
            self._refuse_kind(kind)  # again: a decorator may be stored and used twice
            self._by_kind[kind] = Handler(
                kind=kind,
                call=map_sources.wrap_generator(call) if map_sources.is_generator(call) else call,
                is_async=is_async,
                in_child=in_child,
                memory=memory_limit,
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
            raise InvalidInput("kind", kind, f"no handler; registered kinds: {self._some_kinds()}")
        return handler

    def read(self, kind: str, payload: Any) -> HandlerCall:
        handler = self._by_kind.get(kind) or self.find(kind)
        if handler.check is None:
            return HandlerCall(handler, payload)
        checked = handler.check(payload)
        # A child gets the original payload and checks it again: a check may return any object, and
        # only JSON can be sent to a child.
        return HandlerCall(handler, payload if handler.in_child else checked)

    def _refuse_kind(self, kind: object) -> None:
        if not isinstance(kind, str) or not 1 <= len(kind) <= KIND_MAX_CHARACTERS:
            raise InvalidInput(
                "kind", kind, f"expected a name of 1 to {KIND_MAX_CHARACTERS} characters"
            )
        if not kind.isprintable():
            raise InvalidInput("kind", kind, "must not contain control characters")
        if kind in self._by_kind:
            raise InvalidInput("kind", kind, "kind already has a handler; use another name")

    def _some_kinds(self) -> str:
        if not self._by_kind:
            return "none"
        shown = sorted(self._by_kind)[:SHOWN_KINDS_MAX]
        more = len(self._by_kind) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")


def _describe(call: Callable[..., Any]) -> TaskDescription:
    """Describe a task by its function's docstring; other callables only have their class's."""
    docstring = call.__doc__ if inspect.isroutine(call) else None
    return TaskDescription(text=summarize_docstring(docstring))


def _check_isolation(isolation: object) -> Isolation:
    for choice in get_args(Isolation):
        if isolation == choice:
            return choice  # type: ignore[no-any-return] # get_args returns the literals
    raise InvalidInput("isolation", isolation, "expected 'none' or 'process'")


def _check_memory(memory: int | None, *, in_child: bool) -> int:
    if memory is None:
        return MEMORY_DEFAULT_BYTES
    if not in_child:
        wanted = 'only handlers with isolation="process" have a memory limit; remove memory'
        raise InvalidInput("memory", memory, wanted)
    if memory < MEMORY_MIN_BYTES:
        raise InvalidInput("memory", memory, f"must be at least {MEMORY_MIN_BYTES} bytes")
    return memory


def _is_async(call: object) -> bool:
    if not callable(call):
        raise InvalidInput("handler", call, "expected a function of (context, payload)")
    # An object with `async def __call__` counts as well.
    functions = (call, getattr(call, "__call__", None))  # noqa: B004 — the method itself is needed
    return map_sources.is_async_generator(call) or any(map(inspect.iscoroutinefunction, functions))
