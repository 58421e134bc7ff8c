"""The load to come, and kinds of jobs, as JSON. Room: api/shapes."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rota.api.shapes.pieces import Moment


class LoadQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A day from now unless it is said, 35 days at most."""

    since: Annotated[Moment | None, Meta(description="Now unless it is said.")] = None
    until: Annotated[
        Moment | None,
        Meta(description="A day after `since` unless it is said, 35 days at most."),
    ] = None
    bucket: Annotated[
        Literal["minute", "hour"],
        Meta(description="How wide a part is; a week of minutes at most."),
    ] = "minute"


class LoadPart(Struct, kw_only=True, frozen=True):
    start: str
    ticks: int


class BusyJob(Struct, kw_only=True, frozen=True):
    """`is_estimate`: its schedule has too many ticks to walk. Cron and intervals are exact."""

    job_id: str
    job_name: str
    ticks: int
    is_estimate: bool


class LoadView(Struct, kw_only=True, frozen=True):
    """`buckets` are those with ticks. `unknown` jobs run again some time after they have ended.
    `is_estimate`: a job is an estimate, or there are more schedules than are read for one answer.
    """

    since: str
    until: str
    width_s: float
    buckets: list[LoadPart]
    jobs: int
    unknown: int
    busiest: list[BusyJob]
    is_estimate: bool


class KindView(Struct, kw_only=True, frozen=True):
    """`workers` are those alive that carry it out; `payload_schema` is JSON Schema, if known."""

    kind: str
    workers: int
    payload_schema: dict[str, Any] | None


class Kinds(Struct, kw_only=True, frozen=True):
    data: list[KindView]
