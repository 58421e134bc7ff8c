"""Tenants, keys, secrets, calendars and the audit log as JSON. Room: api/shapes."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.api.shapes.pieces import Cursor, Duration, Limit, Moment, Name
from rota.contract.bodies import CalendarObject
from rota.contract.documents import SECRET
from rota.contract.quotas import QuotasDraft
from rota.core.masking import SHORTEST

Weight = Annotated[int, Meta(ge=1, le=1000)]
RoleName = Literal["viewer", "operator", "admin", "platform"]


class TenantDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[Name, Meta(description="Unique among the tenants.")]
    weight: Annotated[
        Weight, Meta(description="Its share of busy workers, next to the others.")
    ] = 1
    quotas: Annotated[QuotasDraft | None, Meta(description="What it may have at most.")] = None


class TenantEdit(Struct, kw_only=True, forbid_unknown_fields=True):
    weight: Annotated[
        Weight | UnsetType, Meta(description="Its share of busy workers, next to the others.")
    ] = UNSET
    quotas: Annotated[
        QuotasDraft | UnsetType,
        Meta(description="All of them anew: what is absent has its default again."),
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
    """`lifetime` is 90 days unless it is said, and a year at most."""

    name: Annotated[Name, Meta(description="What it is for.")]
    role: Annotated[RoleName, Meta(description="What it may do; none above your own.")]
    user_id: Annotated[
        Name | None, Meta(description="Who is named in the audit log instead of the key.")
    ] = None
    lifetime: Annotated[
        Duration | None, Meta(description="90 days unless it is said, a year at most.")
    ] = None


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


class UserView(Struct, kw_only=True, frozen=True):
    """Whom jobs and keys name. `jobs` are those that are not deleted, counted up to 200; `keys`
    are those that are valid.
    """

    user_id: str
    jobs: int
    keys: int


class KeysRevoked(Struct, kw_only=True, frozen=True):
    """The keys that were valid until now."""

    user_id: str
    key_ids: list[str]


class SecretDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    value: Annotated[
        Annotated[str, Meta(min_length=SHORTEST, max_length=64_000)],
        Meta(description="The secret. A shorter one could not be kept out of logs.", extra=SECRET),
    ]


class SecretView(Struct, kw_only=True, frozen=True):
    name: str
    version: int
    updated_at: str


class CalendarDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A calendar in the form of docs/reference/schedules.md; its name is in the path."""

    calendar: Annotated[
        CalendarObject, Meta(description="A calendar in the form of docs/reference/schedules.md.")
    ]


class CalendarView(Struct, kw_only=True, frozen=True):
    name: str
    calendar: dict[str, Any]
    version: int
    updated_at: str


class AuditQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    thing: Annotated[
        Name | None, Meta(description="What was changed: `job`, `run`, `key` and so on.")
    ] = None
    thing_id: Annotated[
        Name | None, Meta(description="The id or the name of what was changed.")
    ] = None
    actor: Annotated[Name | None, Meta(description="Who changed it.")] = None
    action: Annotated[Name | None, Meta(description="How, as in `job.pause`.")] = None
    since: Annotated[Moment | None, Meta(description="At this time or later.")] = None
    until: Annotated[Moment | None, Meta(description="Before this time.")] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class AuditView(Struct, kw_only=True, frozen=True):
    """Who did what, when and from where.

    `source` is the client's address. `origin` is what made the change: `code` (an app that declares
    jobs), `file` (`rota apply`), `import`, `cli`, `dashboard`, `api`, or `transaction`
    (`rota.within`); null for entries of earlier releases.
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
