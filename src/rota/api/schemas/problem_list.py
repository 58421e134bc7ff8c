"""Schemas of the problems that exist now. Error responses have problems of their own
(rota.api.problems).
"""

from typing import Annotated, Any

from msgspec import Meta, Struct

from rota.api.schemas.cluster import AllTenantsQuery


class ProblemListQuery(AllTenantsQuery, kw_only=True, frozen=True, forbid_unknown_fields=True):
    fresh: Annotated[
        bool,
        Meta(
            description="Find the problems anew; otherwise the list is up to 5 seconds "
            "old. Default: `false`."
        ),
    ] = False


class ProblemSubjectView(Struct, kw_only=True, frozen=True):
    kind: Annotated[
        str,
        Meta(
            description="job, step, task, queue, tenant, source, endpoint, channel, ping, worker "
            "or platform."
        ),
    ]
    id: str
    name: str


class ProblemActionView(Struct, kw_only=True, frozen=True):
    """A request that ends the problem. Left out if the caller may not send it."""

    label: str
    method: str
    path: Annotated[str, Meta(description="Path and query, relative to the address of the API.")]
    body: dict[str, Any] | None
    needs_token: Annotated[
        bool,
        Meta(
            description="Whether it is a bulk operation: send the body with `dry_run: true` first, "
            "then again with the `token` of the response."
        ),
    ]


class ProblemView(Struct, kw_only=True, frozen=True):
    code: Annotated[str, Meta(description="For programs; listed in docs/reference/problems.md.")]
    sentence: Annotated[str, Meta(description="What is wrong.")]
    cause: Annotated[str | None, Meta(description="Why, if Rota knows it.")]
    since: str | None
    severity: Annotated[str, Meta(description="info, warning or page.")]
    subject: ProblemSubjectView
    remedy: Annotated[str, Meta(description="What to do.")]
    action: ProblemActionView | None
    links: Annotated[dict[str, str], Meta(description="Pages of the dashboard, by what they show.")]


class ProblemList(Struct, kw_only=True, frozen=True):
    data: list[ProblemView]
