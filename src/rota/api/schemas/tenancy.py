"""Schemas of tenants, keys, users, secrets, calendars and the audit log."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.api.schemas.field_types import Cursor, Duration, Limit, Moment, Name
from rota.contract.document_fields import CalendarObject
from rota.contract.documents import SECRET_META
from rota.contract.quotas import QuotasDraft
from rota.core.secret_masking import MASKED_BYTES_MIN

Weight = Annotated[int, Meta(ge=1, le=1000)]
RoleName = Literal["viewer", "operator", "admin", "platform"]


class TenantDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[Name, Meta(description="Unique among the tenants.")]
    weight: Annotated[
        Weight,
        Meta(description="Share of busy workers relative to other tenants. Default: 1."),
    ] = 1
    quotas: Annotated[
        QuotasDraft | None,
        Meta(description="Quotas of the tenant. Default: the default of each quota."),
    ] = None


class TenantEdit(Struct, kw_only=True, forbid_unknown_fields=True):
    weight: Annotated[
        Weight | UnsetType,
        Meta(description="Share of busy workers relative to other tenants. Default: unchanged."),
    ] = UNSET
    quotas: Annotated[
        QuotasDraft | UnsetType,
        Meta(
            description="Replaces all quotas; an omitted quota gets its default. Default: "
            "unchanged."
        ),
    ] = UNSET


class TenantView(Struct, kw_only=True, frozen=True):
    tenant_id: int
    name: str
    weight: int
    quotas: dict[str, Any]
    is_paused: bool
    paused_at: str | None
    created_at: str


class KeyDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """An API key to create."""

    name: Annotated[Name, Meta(description="Purpose of the key.")]
    role: Annotated[RoleName, Meta(description="Role of the key; at most your own.")]
    user_id: Annotated[
        Name | None,
        Meta(description="User named in the audit log. Default: none; the log names the key."),
    ] = None
    lifetime: Annotated[
        Duration | None, Meta(description="Lifetime, at most a year. Default: 90 days.")
    ] = None


class KeyView(Struct, kw_only=True, frozen=True):
    """A key without its secret, which cannot be shown again."""

    key_id: str
    name: str
    handle: str
    role: str
    user_id: str | None
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    used_at: str | None


class CreatedKey(KeyView, kw_only=True, frozen=True):
    """A new key with its secret, which is shown only once."""

    key: str


class UserView(Struct, kw_only=True, frozen=True):
    """A user of jobs and keys. `jobs` counts jobs that are not deleted, up to 200; `keys` counts
    valid keys.
    """

    user_id: str
    jobs: int
    keys: int


class KeysRevoked(Struct, kw_only=True, frozen=True):
    """The revoked keys."""

    user_id: str
    key_ids: list[str]


class SecretDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    value: Annotated[
        Annotated[str, Meta(min_length=MASKED_BYTES_MIN, max_length=64_000)],
        Meta(description="The secret. Shorter values cannot be masked in logs.", extra=SECRET_META),
    ]


class SecretView(Struct, kw_only=True, frozen=True):
    name: str
    version: int
    updated_at: str


class CalendarDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A calendar; the path contains its name."""

    calendar: Annotated[
        CalendarObject, Meta(description="A calendar; see docs/reference/schedules.md.")
    ]


class CalendarView(Struct, kw_only=True, frozen=True):
    name: str
    calendar: dict[str, Any]
    version: int
    updated_at: str


class AuditQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    thing: Annotated[
        Name | None,
        Meta(description="Filter by type of object: `job`, `run`, `key` and so on. Default: all."),
    ] = None
    thing_id: Annotated[
        Name | None, Meta(description="Filter by id or name of the object. Default: all.")
    ] = None
    actor: Annotated[Name | None, Meta(description="Filter by author. Default: all.")] = None
    action: Annotated[
        Name | None, Meta(description="Filter by action, such as `job.pause`. Default: all.")
    ] = None
    since: Annotated[Moment | None, Meta(description="At or after this time. Default: any.")] = None
    until: Annotated[Moment | None, Meta(description="Before this time. Default: any.")] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class AuditView(Struct, kw_only=True, frozen=True):
    """One entry of the audit log.

    `source` is the client's address. `origin` is the means of the change: `code` (an app that
    declares jobs), `file` (`rota apply`), `import`, `cli`, `dashboard`, `api`, or `transaction`
    (`rota.in_transaction`); null for entries of earlier releases.
    """

    id: int
    at: str
    actor: str
    key_id: str | None
    source: str | None
    origin: str | None
    action: str
    thing: str
    thing_id: str
    before: Any
    after: Any
    request_id: str | None
