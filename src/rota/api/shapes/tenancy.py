"""Tenants, keys, secrets, calendars and the audit log as JSON. Room: api/shapes."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.api.shapes.pieces import Cursor, Duration, Json, Limit, Moment, Name

Count = Annotated[int, Meta(ge=1, le=100_000_000)]
Weight = Annotated[int, Meta(ge=1, le=1000)]
RoleName = Literal["viewer", "operator", "admin", "platform"]


class QuotasDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a tenant may have at most; what is not said is not limited."""

    max_jobs: Count | None = None
    max_queued: Count | None = None
    max_running: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    runs_per_s: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    min_period: Duration | None = None


class TenantDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name
    weight: Weight = 1
    quotas: QuotasDraft | None = None


class TenantEdit(Struct, kw_only=True, forbid_unknown_fields=True):
    weight: Weight | UnsetType = UNSET
    quotas: QuotasDraft | UnsetType = UNSET


class TenantView(Struct, kw_only=True, frozen=True):
    tenant_id: int
    name: str
    weight: int
    quotas: dict[str, Any]
    is_paused: bool
    paused_at: str | None
    created_at: str


class KeyDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """`lifetime` is 90 days unless it is said, and a year at most."""

    name: Name
    role: RoleName
    user_id: Name | None = None
    lifetime: Duration | None = None


class KeyView(Struct, kw_only=True, frozen=True):
    """A key without its secret, which nobody can show again."""

    key_id: str
    name: str
    handle: str
    role: str
    user_id: str | None
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    used_at: str | None


class KeyMade(KeyView, kw_only=True, frozen=True):
    """The only time that the key itself is shown."""

    key: str


class SecretDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    value: Annotated[str, Meta(min_length=1, max_length=64_000)]


class SecretView(Struct, kw_only=True, frozen=True):
    name: str
    version: int
    updated_at: str


class CalendarDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A calendar in the form of docs/reference/schedules.md; its name is in the path."""

    calendar: dict[str, Json]


class CalendarView(Struct, kw_only=True, frozen=True):
    name: str
    calendar: dict[str, Any]
    version: int
    updated_at: str


class AuditQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    thing: Name | None = None
    thing_id: Name | None = None
    actor: Name | None = None
    action: Name | None = None
    since: Moment | None = None
    until: Moment | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class AuditView(Struct, kw_only=True, frozen=True):
    """Who did what, when and from where."""

    id: int
    at: str
    actor: str
    key_id: str | None
    source: str | None
    action: str
    thing: str
    thing_id: str
    before: Any
    after: Any
    request_id: str | None
