"""Which tenants may use what an operator named: a connection, a channel, a queue of a worker.

Room: core. A list of tenants is written in the settings of a worker; `*` stands for every tenant.
What does not say whose it is belongs to the default tenant, which is everybody while it is the only
one (docs/adr/0038-tenants-of-resources.md).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

from rota.core.errors import ResourceUnavailable

DEFAULT_TENANT: Final = "default"
EVERY_TENANT: Final = "*"
# Of what is not declared.
DEFAULT_TENANTS: Final = (DEFAULT_TENANT,)


class Declared(Protocol):
    """A resource that says which tenants may use it."""

    @property
    def tenants(self) -> Sequence[str]: ...


ResourceT = TypeVar("ResourceT", bound=Declared)


def is_open_to(tenants: Sequence[str], tenant: str) -> bool:
    """Return whether a list of tenants holds this one, by its name or by `*`."""
    return tenant in tenants or EVERY_TENANT in tenants


def select_open(resources: Mapping[str, ResourceT], tenant: str) -> dict[str, ResourceT]:
    """Return the resources that this tenant may use, by name."""
    return {name: each for name, each in resources.items() if is_open_to(each.tenants, tenant)}


def refuse_resource(
    field: str, name: object, *, tenant: str, available: Iterable[str], setting: str
) -> ResourceUnavailable:
    """Return the error for a name that this tenant cannot use.

    It reads the same for a name that only others may use and for one that does not exist.
    """
    names = ", ".join(sorted(available)) or "none"
    wanted = f"available: {names}; the operator of the worker sets {setting}"
    return ResourceUnavailable(field, name, wanted, tenant)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedTenants:
    """The tenants whose runs a worker takes: in all its queues, and in those that differ."""

    tenants: tuple[str, ...] = DEFAULT_TENANTS
    by_queue: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def in_queue(self, queue: str) -> tuple[str, ...]:
        """Return the tenants that are served in this queue."""
        return self.by_queue.get(queue, self.tenants)

    def names(self) -> list[str]:
        """Return every tenant that is named anywhere, without `*`."""
        lists = (self.tenants, *self.by_queue.values())
        return sorted({name for each in lists for name in each if name != EVERY_TENANT})

    def describe(self, queues: Sequence[str]) -> str:
        """Return it as a sentence for the log of a worker that serves these queues."""
        differing = [queue for queue in queues if self.in_queue(queue) != self.tenants]
        parts = [f"takes runs of {_listed(self.tenants)}"]
        parts += [f"in queue {queue} of {_listed(self.in_queue(queue))}" for queue in differing]
        return "; ".join(parts)

    def to_plain(self, queue_ids: Mapping[str, int]) -> dict[str, Any]:
        """Return it as a session stores it, with the ids of its queues."""
        by_queue = {
            str(queue_ids[queue]): list(each)
            for queue, each in self.by_queue.items()
            if queue in queue_ids
        }
        return {"tenants": list(self.tenants), "queues": by_queue}


def _listed(tenants: Sequence[str]) -> str:
    if EVERY_TENANT in tenants:
        return "all tenants"
    names = ", ".join(tenants) or "none"
    return f"{'tenant' if len(tenants) == 1 else 'tenants'} {names}"


SERVES_EVERY_TENANT: Final = ServedTenants(tenants=(EVERY_TENANT,))
