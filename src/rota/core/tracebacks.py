"""A traceback as data: errors, their frames, and which frames are the user's own. Room: core.

Stored with the reason of a failed attempt, so that pages and commands can show the user's frames
first and fold the others. runtime/tracebacks.py makes it; here it is masked and written as text.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

Relation = Literal["raised", "cause", "context", "member"]

CAUSED: Final = "\nThe above exception was the direct cause of the following exception:\n\n"
DURING: Final = "\nDuring handling of the above exception, another exception occurred:\n\n"
INDENT: Final = "  | "


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedFrame:
    """One call. `is_own`: it is the user's code, not Rota's, Python's or a library's."""

    file: str
    line: int
    function: str
    code: str
    is_own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedError:
    """One exception, its frames in the order of the calls.

    `relation` says what it is to the error before it: the one that was raised, what it was raised
    from (`cause`), what was being handled (`context`), or a member of a group. Members and what
    belongs to them are one `depth` deeper than their group. The error that was raised has no
    message here: it is that of the failure. `omitted_frames` were left out of the middle.
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
    """The same errors, with each text passed through `mask`."""
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


def render_text(errors: Sequence[TracedError], message: str) -> str:
    """As Python prints it: what came first stands first, members of a group after it."""
    chains: list[list[TracedError]] = []
    for error in errors:
        if error.relation in {"raised", "member"} or not chains:
            chains.append([])
        chains[-1].append(error)
    return "".join(_render_chain(chain, message) for chain in chains)


def _render_chain(chain: Sequence[TracedError], message: str) -> str:
    text = ""
    for later, error in zip([None, *chain], chain, strict=False):
        said = "".join(_render_error(error, message))
        if later is None:
            text = said
        else:
            text = f"{said}{CAUSED if error.relation == 'cause' else DURING}{text}"
    indent = INDENT * chain[0].depth
    return "".join(f"{indent}{line}" for line in text.splitlines(keepends=True))


def _render_error(error: TracedError, message: str) -> Iterator[str]:
    if error.frames:
        yield "Traceback (most recent call last):\n"
    if error.omitted_frames:
        yield f"  [{error.omitted_frames} frames are left out]\n"
    for frame in error.frames:
        yield f'  File "{frame.file}", line {frame.line}, in {frame.function}\n'
        if frame.code:
            yield f"    {frame.code}\n"
    said = message if error.message is None else error.message
    yield f"{error.type}: {said}\n" if said else f"{error.type}\n"
