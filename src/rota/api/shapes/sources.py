"""Sources of events as JSON. Room: api/shapes."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class SourceView(Struct, kw_only=True, frozen=True):
    """A source of events, and how far it was read."""

    name: str
    kind: str
    state: Annotated[
        Literal["reading", "failing", "idle"],
        Meta(
            description="`reading`: a process reads it. `failing`: the last try failed, and it is "
            "tried again. `idle`: no process does; perhaps none has it in its settings."
        ),
    ]
    reader: Annotated[str | None, Meta(description="The process that reads it now.")]
    position: Annotated[
        str | None, Meta(description="How far it was read, in the source's own words.")
    ]
    lag: Annotated[
        int | None,
        Meta(description="Events that were known to wait behind it; null if it cannot tell."),
    ]
    taken: Annotated[int, Meta(description="Events taken so far; one that came again counts once.")]
    refused: Annotated[int, Meta(description="Messages passed over because they are no events.")]
    read_at: Annotated[str | None, Meta(description="When it last answered.")]
    taken_at: Annotated[str | None, Meta(description="When it last had a new event.")]
    failures: Annotated[int, Meta(description="Failures in a row.")]
    error: Annotated[str | None, Meta(description="What went wrong last.")]
    error_at: str | None


class Sources(Struct, kw_only=True, frozen=True):
    data: list[SourceView]
