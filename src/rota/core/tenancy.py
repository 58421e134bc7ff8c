"""Decides which tenants may use a resource of a worker: a connection, a channel, a queue.

The settings of a worker list the tenants of a resource; `*` means every tenant. A resource without
such a list belongs to the default tenant, which is the only tenant of most installations
(docs/adr/0038-tenant-access-to-resources.md).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

from rota.core.errors import ResourceUnavailable

DEFAULT_TENANT: Final = "default"
EVERY_TENANT: Final = "*"
# The tenants of a resource without a list.
DEFAULT_TENANTS: Final = (DEFAULT_TENANT,)


class TenantResource(Protocol):
    """A resource with a list of the tenants that may use it."""

    @property
    def tenants(self) -> Sequence[str]: ...


ResourceT = TypeVar("ResourceT", bound=TenantResource)


def is_open_to(tenants: Sequence[str], tenant: str) -> bool:
    """Return whether a list of tenants contains this one, by its name or by `*`."""
    return tenant in tenants or EVERY_TENANT in tenants


def select_open(resources: Mapping[str, ResourceT], tenant: str) -> dict[str, ResourceT]:
    """Return the resources that this tenant may use, by name."""
    return {
        name: resource
        for name, resource in resources.items()
        if is_open_to(resource.tenants, tenant)
    }


def build_resource_error(
    field: str, name: object, *, tenant: str, available: Iterable[str], setting: str
) -> ResourceUnavailable:
    """Return the error for a name that this tenant cannot use.

    The message is the same for a name that only other tenants may use and for an unknown name.
    """
    names = ", ".join(sorted(available)) or "none"
    wanted = f"available: {names}; the worker's operator grants access with {setting}"
    return ResourceUnavailable(field, name, wanted, tenant)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedTenants:
    """The tenants whose runs a worker claims: in all its queues, or per queue if they differ."""

    tenants: tuple[str, ...] = DEFAULT_TENANTS
    by_queue: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def find_by_queue(self, queue: str) -> tuple[str, ...]:
        """Return the tenants whose runs the worker claims in this queue."""
        return self.by_queue.get(queue, self.tenants)

    def list_names(self) -> list[str]:
        """Return all tenant names in any list, without `*`."""
        lists = (self.tenants, *self.by_queue.values())
        return sorted({name for names in lists for name in names if name != EVERY_TENANT})

    def describe(self, queues: Sequence[str]) -> str:
        """Describe the served tenants for the log of a worker that serves these queues."""
        differing = [queue for queue in queues if self.find_by_queue(queue) != self.tenants]
        parts = [f"serves {_name_tenants(self.tenants)}"]
        parts += [
            f"in queue {queue}: {_name_tenants(self.find_by_queue(queue))}" for queue in differing
        ]
        return "; ".join(parts)

    def to_plain(self, queue_ids: Mapping[str, int]) -> dict[str, Any]:
        """Return the form that a session stores, with the ids of its queues."""
        by_queue = {
            str(queue_ids[queue]): list(tenants)
            for queue, tenants in self.by_queue.items()
            if queue in queue_ids
        }
        return {"tenants": list(self.tenants), "queues": by_queue}


def _name_tenants(tenants: Sequence[str]) -> str:
    if EVERY_TENANT in tenants:
        return "all tenants"
    names = ", ".join(tenants) or "none"
    return f"{'tenant' if len(tenants) == 1 else 'tenants'} {names}"


SERVES_EVERY_TENANT: Final = ServedTenants(tenants=(EVERY_TENANT,))
