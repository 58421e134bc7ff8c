"""Defines a rule before it is stored."""

from dataclasses import dataclass

from rota.core.alerts.conditions import Condition, SubjectSelector
from rota.core.alerts.finding import AlertPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRule:
    """A rule to create, or the new content of one. `project` names the rota.yaml that declares it;
    None if the API does.
    """

    tenant_id: int
    name: str
    condition: Condition
    selector: SubjectSelector
    policy: AlertPolicy
    is_enabled: bool = True
    project: str | None = None
