"""What is asked of lists of jobs, and how one is deleted. Room: api/shapes."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.api.shapes.pieces import (
    ANY_CASE,
    IN_STATES,
    Cursor,
    Limit,
    Moment,
    Name,
    Status,
    Word,
)

JobType = Literal["definition", "one_time", "all"]


class JobsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    type: Annotated[
        JobType | UnsetType,
        Meta(
            description="`definition` lists jobs that can run more than once, `one_time` lists "
            "one-time submissions, `all` lists both. Default: `all` if `status` asks for "
            "`pending` or `running`, which are about runs; otherwise `definition`."
        ),
    ] = UNSET
    status: list[Annotated[Status, Meta(description=IN_STATES, extra=ANY_CASE)]] = []
    user_id: Annotated[Name | None, Meta(description="Of this user.")] = None
    kind: Annotated[Word | None, Meta(description="Of this kind.")] = None
    queue: Annotated[Word | None, Meta(description="In this queue.")] = None
    label: (
        Annotated[
            str, Meta(max_length=129, pattern="^[^:]+:.*$", description="As in team:billing.")
        ]
        | None
    ) = None
    q: (
        Annotated[str, Meta(min_length=1, max_length=200, description="Part of the name.")] | None
    ) = None
    created_after: Annotated[Moment | None, Meta(description="Made at this time or later.")] = None
    created_before: Annotated[Moment | None, Meta(description="Made before this time.")] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class DeleteQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    running: Annotated[
        Literal["cancel", "keep", "leave"],
        Meta(
            description="What happens to runs that are being executed: their workers are asked to "
            "stop them, or they go on (`keep`; `leave` is an older word for it). Default: `cancel`."
        ),
    ] = "cancel"
