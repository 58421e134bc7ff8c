"""Decides which role may do what.

A tenant has three roles, each with all permissions of the one below it; `platform` is above the
tenants. The registration of an action names the permission it needs. api_keys.py and store/keys.py
turn a key into a principal. Tenant isolation is not decided here: every statement filters by
tenant.
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
    """The value completes the sentence "role viewer cannot …"."""

    READ = "read"
    # Run, cancel, pause, resume, retry, requeue.
    OPERATE = "operate jobs and runs"
    # Create, edit and delete jobs and graphs.
    DEFINE = "define jobs"
    # Keys, secrets, calendars, quotas, limits of queues, the audit log.
    MANAGE = "manage the tenant"
    # Tenants and cluster-wide operations.
    PLATFORM = "manage the platform"


_LADDER: Final = (
    (Role.VIEWER, frozenset({Permission.READ})),
    (Role.OPERATOR, frozenset({Permission.OPERATE, Permission.DEFINE})),
    (Role.ADMIN, frozenset({Permission.MANAGE})),
    (Role.PLATFORM, frozenset({Permission.PLATFORM})),
)
_RANKS: Final = {role: rank for rank, (role, _) in enumerate(_LADDER)}
ROLE_PERMISSIONS: Final[dict[Role, frozenset[Permission]]] = {
    role: frozenset[Permission]().union(*(granted for _, granted in _LADDER[: rank + 1]))
    for role, rank in _RANKS.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The caller: a key, its tenant and its role. `expires_at` is None if the key never expires."""

    key_id: UUID
    tenant_id: int
    tenant: str
    role: Role
    name: str
    user_id: str | None = None
    expires_at: datetime | None = None


def is_allowed(principal: Principal, permission: Permission) -> bool:
    """Return whether the principal's role has the permission."""
    return permission in ROLE_PERMISSIONS[principal.role]


def require_permission(principal: Principal, permission: Permission) -> None:
    """Raise `NotAllowed` unless the principal's role has the permission."""
    if not is_allowed(principal, permission):
        needed = next(role for role, granted in _LADDER if permission in granted)
        raise NotAllowed(permission.value, principal.role.value, needed.value)


def require_grant(principal: Principal, role: Role) -> None:
    """Raise `NotAllowed` unless the principal may create a key of this role.

    The role must not be above the principal's own. Only a platform key creates platform keys.
    """
    require_permission(principal, Permission.MANAGE)
    if _RANKS[role] > _RANKS[principal.role]:
        raise NotAllowed(f"create {role.value} keys", principal.role.value, role.value)
