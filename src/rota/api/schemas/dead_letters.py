"""Schemas of dead letters and their groups."""

from typing import Annotated

from msgspec import Meta, Struct

from rota.api.schemas.field_types import Limit, Moment, Word
from rota.api.schemas.runs import Fingerprint, RunDetail, RunsQuery


class DeadLettersQuery(RunsQuery, kw_only=True, frozen=True, forbid_unknown_fields=True):
    fingerprint: Annotated[
        Fingerprint | None,
        Meta(description="Filter by error fingerprint. Default: all."),
    ] = None
    ended_after: Annotated[
        Moment | None, Meta(description="Ended at or after this time. Default: any.")
    ] = None
    ended_before: Annotated[
        Moment | None, Meta(description="Ended before this time. Default: any.")
    ] = None


class DeadGroupJob(Struct, kw_only=True, frozen=True):
    """A job in the group and the number of its runs there. All one-time submissions share one entry
    without id and name.
    """

    job_id: str | None
    job_name: str | None
    count: int


class DeadGroupView(Struct, kw_only=True, frozen=True):
    """Dead letters of one task with the same error: the same type, the same message apart from
    numbers and ids, and the same innermost frame of the user's code.

    `message` is the newest one. `frame` is `module:function`; null if the task runs no Python code
    of the user. `counts_per_hour` covers the 24 hours before `until`, oldest first. `versions` are
    the definition versions of the jobs. `jobs` lists up to five jobs with the most failures;
    `job_count` is the number of all. List, requeue, edit and drop select exactly this group with
    the filter `kind`, `fingerprint`, `since` and `until`.
    """

    kind: str
    error_type: str
    message: str
    frame: str | None
    fingerprint: str
    count: int
    first_seen: str
    last_seen: str
    counts_per_hour: list[int]
    versions: list[int]
    jobs: list[DeadGroupJob]
    job_count: int
    sample_run_id: str


class DeadGroups(Struct, kw_only=True, frozen=True):
    """Groups of dead letters that ended from `since` on and before `until`. `is_partial`: only the
    newest are grouped; `count` and `first_seen` exclude older ones.
    """

    data: list[DeadGroupView]
    since: str
    until: str
    is_partial: bool


class DeadGroupDetail(DeadGroupView, kw_only=True, frozen=True):
    """One group, with its newest run in full."""

    sample: RunDetail
    since: str
    until: str
    is_partial: bool


class DeadGroupQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    job_id: Annotated[
        Annotated[str, Meta(pattern="^job_[0-9a-f]{32}$")] | None,
        Meta(description="Filter by job. Default: all jobs and one-time submissions."),
    ] = None
    since: Annotated[
        Moment | None, Meta(description="Ended at or after this time. Default: 30 days ago.")
    ] = None
    until: Annotated[Moment | None, Meta(description="Ended before this time. Default: now.")] = (
        None
    )


class DeadGroupsQuery(DeadGroupQuery, kw_only=True, frozen=True, forbid_unknown_fields=True):
    kind: Annotated[Word | None, Meta(description="Filter by task. Default: all.")] = None
    limit: Limit = 50
