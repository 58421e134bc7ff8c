"""Reads and writes the quotas of a tenant."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.contract.documents import fields_by_name, read_input, read_stored
from rota.contract.field_types import Duration
from rota.core.errors import InvalidInput
from rota.core.quotas import QUOTA_MAXIMA, TICK_PERIOD_MAX, TICK_PERIOD_MIN, Quotas
from rota.core.time import durations

JobQuota = Annotated[int, Meta(ge=1, le=QUOTA_MAXIMA["max_jobs"])]
RunQuota = Annotated[int, Meta(ge=1, le=QUOTA_MAXIMA["max_queued"])]
RunningQuota = Annotated[int, Meta(ge=1, le=QUOTA_MAXIMA["max_running"])]
StartQuota = Annotated[int, Meta(ge=1, le=QUOTA_MAXIMA["runs_per_s"])]
NameQuota = Annotated[int, Meta(ge=1, le=QUOTA_MAXIMA["max_kinds"])]
ResourceQuota = Annotated[int, Meta(ge=1, le=QUOTA_MAXIMA["max_keys"])]


class QuotasDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The quotas of a tenant. An omitted quota has its default; null removes the limit."""

    max_jobs: Annotated[
        JobQuota | UnsetType | None,
        Meta(description="Maximum number of unfinished jobs. Default: 1,000,000."),
    ] = UNSET
    max_queued: Annotated[
        RunQuota | UnsetType | None,
        Meta(description="Maximum number of queued runs. Default: 5,000,000."),
    ] = UNSET
    max_running: Annotated[
        RunningQuota | UnsetType | None,
        Meta(description="Maximum number of concurrent runs. Default: no limit."),
    ] = UNSET
    runs_per_s: Annotated[
        StartQuota | UnsetType | None,
        Meta(description="Maximum number of runs started per second. Default: no limit."),
    ] = UNSET
    min_period: Annotated[
        Duration | UnsetType | None,
        Meta(
            description="Minimum time between two ticks of a job, 1 second to 1 day. "
            "Default: no limit."
        ),
    ] = UNSET
    max_queues: Annotated[
        NameQuota | UnsetType | None,
        Meta(description="Maximum number of queue names the tenant creates. Default: 10,000."),
    ] = UNSET
    max_kinds: Annotated[
        NameQuota | UnsetType | None,
        Meta(description="Maximum number of kind names the tenant creates. Default: 100,000."),
    ] = UNSET
    max_limit_keys: Annotated[
        RunQuota | UnsetType | None,
        Meta(
            description="Maximum number of limit keys, such as one per customer. "
            "Default: 1,000,000."
        ),
    ] = UNSET
    max_hooks: Annotated[
        ResourceQuota | UnsetType | None,
        Meta(description="Maximum number of hooks. Default: 1,000."),
    ] = UNSET
    max_calendars: Annotated[
        ResourceQuota | UnsetType | None,
        Meta(description="Maximum number of calendars. Default: 100."),
    ] = UNSET
    max_secrets: Annotated[
        ResourceQuota | UnsetType | None,
        Meta(description="Maximum number of secrets. Default: 200."),
    ] = UNSET
    max_keys: Annotated[
        ResourceQuota | UnsetType | None,
        Meta(description="Maximum number of valid API keys. Default: 100."),
    ] = UNSET


def read_quotas(value: object) -> Quotas:
    """Read quotas from input."""
    return to_quotas(read_input(QuotasDraft, value, path="quotas"))


def read_stored_quotas(value: Mapping[str, object]) -> Quotas:
    """Read quotas from the database. A quota that this version does not know is not enforced; a
    quota whose value it cannot read has its default.
    """
    try:
        return to_quotas(read_stored(QuotasDraft, value).document)
    except InvalidInput:
        known = {name: item for name, item in value.items() if _is_readable(name, item)}
        return to_quotas(read_stored(QuotasDraft, known).document)


def _is_readable(name: str, item: object) -> bool:
    try:
        to_quotas(read_stored(QuotasDraft, {name: item}).document)
    except InvalidInput:
        return False
    return True


def to_quotas(draft: QuotasDraft) -> Quotas:
    values: dict[str, Any] = {
        name: value
        for name in fields_by_name(QuotasDraft)
        if (value := getattr(draft, name)) is not UNSET
    }
    unlimited = frozenset(name for name, value in values.items() if value is None)
    if isinstance(draft.min_period, str):
        values["min_period"] = _parse_period(draft.min_period)
    return Quotas(**values, unlimited=unlimited)


def _parse_period(value: str) -> timedelta:
    return durations.parse(
        value, field="quotas.min_period", minimum=TICK_PERIOD_MIN, maximum=TICK_PERIOD_MAX
    )


def write_quotas(quotas: Quotas) -> dict[str, object]:
    """Return the stored form: null means no limit, an omitted quota has its default."""
    plain: dict[str, object] = {}
    for name in fields_by_name(QuotasDraft):
        value = getattr(quotas, name)
        if value is not None or name in quotas.unlimited:
            plain[name] = durations.to_iso(value) if isinstance(value, timedelta) else value
    return plain
