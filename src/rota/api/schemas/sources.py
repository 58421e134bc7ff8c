"""Schemas of event sources."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class SourceView(Struct, kw_only=True, frozen=True):
    """An event source and its progress."""

    name: str
    kind: str
    state: Annotated[
        Literal["reading", "failing", "idle"],
        Meta(
            description="`reading`: a process reads it. `failing`: the last attempt failed and is "
            "retried. `idle`: no process reads it; check the settings of the schedulers."
        ),
    ]
    reader: Annotated[str | None, Meta(description="Process that reads it now.")]
    position: Annotated[str | None, Meta(description="Position in the source, in its own format.")]
    lag: Annotated[
        int | None,
        Meta(description="Unread events; null if the source cannot tell."),
    ]
    taken: Annotated[int, Meta(description="Events received so far, without duplicates.")]
    refused: Annotated[int, Meta(description="Messages skipped as invalid.")]
    read_at: Annotated[str | None, Meta(description="Last successful read.")]
    taken_at: Annotated[str | None, Meta(description="Time of the last new event.")]
    failures: Annotated[int, Meta(description="Consecutive failures.")]
    error: Annotated[str | None, Meta(description="Last error.")]
    error_at: str | None


class Sources(Struct, kw_only=True, frozen=True):
    data: list[SourceView]
