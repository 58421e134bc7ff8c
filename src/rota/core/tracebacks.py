"""Defines a traceback as data, masks it, and renders it as text.

It is stored with the reason of a failed attempt, so that the dashboard and the CLI can show the
frames of user code first and fold the others. runtime/tracebacks.py creates it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

Relation = Literal["raised", "cause", "context", "member"]

CAUSE_SEPARATOR: Final = (
    "\nThe above exception was the direct cause of the following exception:\n\n"
)
CONTEXT_SEPARATOR: Final = (
    "\nDuring handling of the above exception, another exception occurred:\n\n"
)
GROUP_INDENT: Final = "  | "


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedFrame:
    """One call. `is_own` is true for user code, false for Rota, Python and libraries."""

    file: str
    line: int
    function: str
    code: str
    is_own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedError:
    """One exception, with its frames in the order of the calls.

    `relation` is its relation to the previous error: `raised` for the error itself, `cause` for the
    error it was raised from, `context` for the error that was being handled, or `member` of a
    group. Members and their causes are one `depth` deeper than their group. The raised error has no
    message here: the failure has it. `omitted_frames` were left out of the middle.
    """

    relation: Relation
    type: str
    message: str | None
    depth: int
    frames: tuple[TracedFrame, ...]
    omitted_frames: int = 0


def mask_errors(
    errors: Sequence[TracedError], mask: Callable[[str], str]
) -> tuple[TracedError, ...]:
    """Return the errors with each text passed through `mask`."""
    return tuple(
        replace(
            error,
            type=mask(error.type),
            message=None if error.message is None else mask(error.message),
            frames=tuple(
                replace(
                    frame,
                    file=mask(frame.file),
                    function=mask(frame.function),
                    code=mask(frame.code),
                )
                for frame in error.frames
            ),
        )
        for error in errors
    )


def render_traceback(errors: Sequence[TracedError], message: str) -> str:
    """Render the traceback as Python does: the first cause first, members of a group after it."""
    chains: list[list[TracedError]] = []
    for error in errors:
        if error.relation in {"raised", "member"} or not chains:
            chains.append([])
        chains[-1].append(error)
    return "".join(_render_chain(chain, message) for chain in chains)


def _render_chain(chain: Sequence[TracedError], message: str) -> str:
    text = ""
    for later, error in zip([None, *chain], chain, strict=False):
        rendered = "".join(_render_error(error, message))
        if later is None:
            text = rendered
        else:
            separator = CAUSE_SEPARATOR if error.relation == "cause" else CONTEXT_SEPARATOR
            text = f"{rendered}{separator}{text}"
    indent = GROUP_INDENT * chain[0].depth
    return "".join(f"{indent}{line}" for line in text.splitlines(keepends=True))


def _render_error(error: TracedError, message: str) -> Iterator[str]:
    if error.frames:
        yield "Traceback (most recent call last):\n"
    if error.omitted_frames:
        yield f"  [{error.omitted_frames} frames omitted]\n"
    for frame in error.frames:
        yield f'  File "{frame.file}", line {frame.line}, in {frame.function}\n'
        if frame.code:
            yield f"    {frame.code}\n"
    own_message = message if error.message is None else error.message
    yield f"{error.type}: {own_message}\n" if own_message else f"{error.type}\n"
