"""Converts the JSON of an edit to the input of submission."""

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
    """Build the edit of a job whose current policy is `policy`."""
    changed = plain_values(edit)
    converted: dict[str, Any] = {
        "schedule": schedule_of(edit) or UNSET,
        "name": edit.name,
        "kind": kind_of(edit),
        "policy": policy_of(edit, policy),
    }
    if converted["policy"] == policy:
        del converted["policy"]
    given_values = {name: value for name, value in converted.items() if value is not UNSET}
    return Edit(**changed, **given_values)
