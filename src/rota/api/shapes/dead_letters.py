"""Dead letters and their groups as JSON. Room: api/shapes."""

from typing import Annotated

from msgspec import Meta, Struct

from rota.api.shapes.pieces import Limit, Moment, Word
from rota.api.shapes.runs import Fingerprint, RunDetail, RunsQuery


class DeadLettersQuery(RunsQuery, kw_only=True, frozen=True, forbid_unknown_fields=True):
    fingerprint: Annotated[
        Fingerprint | None,
        Meta(description="Dead letters with this fingerprint of their error. Default: any."),
    ] = None
    ended_after: Annotated[
        Moment | None, Meta(description="Ended at this time or later. Default: any.")
    ] = None
    ended_before: Annotated[
        Moment | None, Meta(description="Ended before this time. Default: any.")
    ] = None


class DeadGroupJob(Struct, kw_only=True, frozen=True):
    """A job of the group and how many of the group are its runs. All one-time submissions together
    are one entry, without id and name.
    """

    job_id: str | None
    job_name: str | None
    count: int


class DeadGroupView(Struct, kw_only=True, frozen=True):
    """Dead letters of one task that failed alike: the same type of error, the same message apart
    from numbers and ids, the same innermost frame of the user's code.

    `message` is that of the newest. `frame` is `module:function`; null if the task runs no Python
    code of the user. `counts_per_hour` has the last 24 hours before `until`, the oldest first.
    `versions` are the definition versions of the jobs. `jobs` has at most the five with the most
    failures, `job_count` says how many there are. With `kind`, `fingerprint`, `since` and `until`
    as a filter, the list, the replay, the edit and the drop mean exactly these.
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
    """Groups of the dead letters that ended from `since` on and before `until`. `is_partial`: only
    the newest are grouped; `count` and `first_seen` do not consider older ones.
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
        Meta(description="Runs of this job. Default: any job, and one-time submissions."),
    ] = None
    since: Annotated[
        Moment | None, Meta(description="Ended at this time or later. Default: 30 days ago.")
    ] = None
    until: Annotated[Moment | None, Meta(description="Ended before this time. Default: now.")] = (
        None
    )


class DeadGroupsQuery(DeadGroupQuery, kw_only=True, frozen=True, forbid_unknown_fields=True):
    kind: Annotated[Word | None, Meta(description="Of this task. Default: any.")] = None
    limit: Limit = 50
