"""Caches the rules of all tenants and the defaults, for services that match them to subjects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rota.core.alerts.conditions import Expectation
from rota.core.alerts.defaults import list_default_expectations
from rota.core.clock import ClockSource
from rota.store import expectations
from rota.store.driver import Connection

# A changed rule applies after at most this many seconds.
RULES_SECONDS_MAX: Final = 3.0


@dataclass(slots=True, kw_only=True)
class ExpectationBook:
    """The rules by tenant. `has_defaults`: every tenant also has the defaults."""

    clock: ClockSource
    has_defaults: bool = True
    rules: Mapping[int, Sequence[Expectation]] = field(default_factory=dict)
    _read_at: float = float("-inf")

    async def load(self, conn: Connection) -> None:
        """Read the rules, if they are not fresh."""
        if self.clock.monotonic() - self._read_at < RULES_SECONDS_MAX:
            return
        found: dict[int, list[Expectation]] = {}
        for rule in await expectations.read_expectations(conn):
            found.setdefault(rule.tenant_id, []).append(rule)
        self.rules = found
        self._read_at = self.clock.monotonic()

    def list_rules(self, tenant_id: int) -> Sequence[Expectation]:
        """Return the rules of a tenant and its defaults."""
        rules = self.rules.get(tenant_id, ())
        if not self.has_defaults:
            return rules
        return (*rules, *list_default_expectations(tenant_id))

    def list_tenants(self, *conditions: type) -> set[int]:
        """Return the tenants that have rules with one of these conditions, without defaults."""
        return {
            tenant_id
            for tenant_id, rules in self.rules.items()
            if any(isinstance(rule.condition, conditions) for rule in rules)
        }
