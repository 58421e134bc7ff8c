"""Schemas of queries for listing and deleting jobs."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.api.schemas.field_types import (
    ANY_CASE,
    STATUS_FILTER,
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
            "one-time submissions, `all` lists both. Default: `all` if `status` includes "
            "`pending` or `running`, which refer to runs; otherwise `definition`."
        ),
    ] = UNSET
    status: list[Annotated[Status, Meta(description=STATUS_FILTER, extra=ANY_CASE)]] = []
    user_id: Annotated[Name | None, Meta(description="Filter by user. Default: all.")] = None
    kind: Annotated[Word | None, Meta(description="Filter by kind. Default: all.")] = None
    queue: Annotated[Word | None, Meta(description="Filter by queue. Default: all.")] = None
    label: (
        Annotated[
            str,
            Meta(
                max_length=129,
                pattern="^[^:]+:.*$",
                description="Filter by label, as in `team:billing`. Default: all.",
            ),
        ]
        | None
    ) = None
    q: (
        Annotated[
            str,
            Meta(min_length=1, max_length=200, description="Part of the name. Default: all jobs."),
        ]
        | None
    ) = None
    created_after: Annotated[
        Moment | None, Meta(description="Created at or after this time. Default: any.")
    ] = None
    created_before: Annotated[
        Moment | None, Meta(description="Created before this time. Default: any.")
    ] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class DeleteQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    running: Annotated[
        Literal["cancel", "keep", "leave"],
        Meta(
            description="What happens to running runs: `cancel` asks their workers to stop them, "
            "`keep` lets them finish (`leave` is an older name for it). Default: `cancel`."
        ),
    ] = "cancel"
