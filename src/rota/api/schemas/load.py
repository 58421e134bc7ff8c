"""Schemas of the upcoming load and of kinds."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rota.api.schemas.field_types import Moment


class LoadQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A range of at most 35 days."""

    since: Annotated[Moment | None, Meta(description="Start of the range. Default: now.")] = None
    until: Annotated[
        Moment | None,
        Meta(
            description="End of the range, at most 35 days after `since`. Default: a day after "
            "`since`."
        ),
    ] = None
    bucket: Annotated[
        Literal["minute", "hour"],
        Meta(description="Bucket width; at most a week by minute. Default: `minute`."),
    ] = "minute"


class LoadPart(Struct, kw_only=True, frozen=True):
    start: str
    ticks: int


class BusyJob(Struct, kw_only=True, frozen=True):
    """A job with many ticks. `is_estimate`: it has too many ticks to compute each. Cron and
    intervals are exact.
    """

    job_id: str
    job_name: str
    ticks: int
    is_estimate: bool


class LoadView(Struct, kw_only=True, frozen=True):
    """The upcoming ticks. `buckets` omits empty buckets. `unknown` jobs have a fixed delay after
    each
    run, so their ticks are not known. `is_estimate`: a job is an estimate, or there are more
    schedules than one response covers.
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
    """A kind. `workers` is the number of live workers that serve it; `payload_schema` is its JSON
    Schema, if known.
    """

    kind: str
    workers: int
    payload_schema: dict[str, Any] | None


class Kinds(Struct, kw_only=True, frozen=True):
    data: list[KindView]
