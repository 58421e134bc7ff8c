"""From the JSON of a change to what flow/submit takes. Room: api."""

from typing import Any

from msgspec import UNSET

from rota.contract.drafts import (
    given,
    kind_of,
    plain_values,
    policy_of,
    schedule_of,
    spec_of,
)
from rota.contract.job import JobFields
from rota.core.policy import Policy
from rota.flow.submit.changing import Edit

__all__ = ["edit_of", "given", "kind_of", "spec_of"]


def edit_of(edit: JobFields, *, policy: Policy) -> Edit:
    """What is to be different about a job whose policy is this one."""
    changed = plain_values(edit)
    found: dict[str, Any] = {
        "schedule": schedule_of(edit) or UNSET,
        "name": edit.name,
        "kind": kind_of(edit),
        "policy": policy_of(edit, policy),
    }
    if found["policy"] == policy:
        del found["policy"]
    said = {name: value for name, value in found.items() if value is not UNSET}
    return Edit(**changed, **said)
