"""Who may do what: roles, permissions, and the one function that decides. Room: core.

Three roles within a tenant, each with everything the one below it has, and `platform` above the
tenants. Which permission an action needs is said where the action is registered; how a key becomes
a principal is api_keys.py and store/keys.py. That a principal finds only things of its own tenant
is not decided here: every statement carries the tenant.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final
from uuid import UUID

from rota.core.errors import NotAllowed


class Role(Enum):
    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"
    PLATFORM = "platform"


class Permission(Enum):
    """The value completes the sentence "the role viewer may not …"."""

    READ = "read"
    # Run, cancel, pause, resume, retry, replay.
    OPERATE = "operate jobs and runs"
    # Create, edit and delete jobs and graphs.
    DEFINE = "define jobs"
    # Keys, secrets, calendars, quotas, limits of queues, the audit log.
    MANAGE = "manage the tenant"
    # Tenants, and what concerns the whole cluster.
    PLATFORM = "manage the platform"


_LADDER: Final = (
    (Role.VIEWER, frozenset({Permission.READ})),
    (Role.OPERATOR, frozenset({Permission.OPERATE, Permission.DEFINE})),
    (Role.ADMIN, frozenset({Permission.MANAGE})),
    (Role.PLATFORM, frozenset({Permission.PLATFORM})),
)
_RANKS: Final = {role: rank for rank, (role, _) in enumerate(_LADDER)}
PERMITTED: Final[dict[Role, frozenset[Permission]]] = {
    role: frozenset[Permission]().union(*(given for _, given in _LADDER[: rank + 1]))
    for role, rank in _RANKS.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks: a key, its tenant and its role. `expires_at` is None for a key without an end."""

    key_id: UUID
    tenant_id: int
    tenant: str
    role: Role
    name: str
    user_id: str | None = None
    expires_at: datetime | None = None


def may(principal: Principal, permission: Permission) -> bool:
    """The one place that decides."""
    return permission in PERMITTED[principal.role]


def demand(principal: Principal, permission: Permission) -> None:
    """Raise `NotAllowed` unless the principal may."""
    if not may(principal, permission):
        raise NotAllowed(permission.value, principal.role.value)


def demand_grant(principal: Principal, role: Role) -> None:
    """Raise `NotAllowed` unless the principal may hand out a key of this role: none above its own,
    and a platform key only from a platform key.
    """
    demand(principal, Permission.MANAGE)
    if _RANKS[role] > _RANKS[principal.role]:
        raise NotAllowed(f"make a key of the role {role.value}", principal.role.value)
