"""Converts the JSON of an edit to the input of submission."""

from typing import Any

from msgspec import UNSET

from rota.contract.job import JobFields
from rota.contract.job_drafts import (
    build_spec,
    convert_plain_fields,
    resolve_kind,
    resolve_policy,
    resolve_schedule,
    value_or_default,
)
from rota.core.policy import Policy
from rota.engine.submission.job_changes import JobChanges

__all__ = ["build_edit", "build_spec", "resolve_kind", "value_or_default"]


def build_edit(edit: JobFields, *, policy: Policy) -> JobChanges:
    """Build the edit of a job whose current policy is `policy`."""
    changed = convert_plain_fields(edit)
    converted: dict[str, Any] = {
        "schedule": resolve_schedule(edit) or UNSET,
        "name": edit.name,
        "kind": resolve_kind(edit),
        "policy": resolve_policy(edit, policy),
    }
    if converted["policy"] == policy:
        del converted["policy"]
    given_values = {name: value for name, value in converted.items() if value is not UNSET}
    return JobChanges(**changed, **given_values)
