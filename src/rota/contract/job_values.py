"""Converts a job into JSON values, by the field names of the contract.

Comparison, export and responses use the same form, for a declared job (`read_spec_values`) and for
a stored one (`read_row_values`).
"""

import json
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from rota.contract.job import DETAIL_COLUMNS, JOB_FIELDS, POLICY_FIELDS, STORED_JOB_FIELDS
from rota.contract.limits import write_limit
from rota.contract.policy import write_policy
from rota.core.limits import JobLimit
from rota.core.policy import DEFAULT_POLICY, NO_LIMIT
from rota.core.submissions import JobSpec

# Fields of `JobSpec` and of a job's row; the policy fields are stored together in one document.
OWN_FIELDS: Final = tuple(name for name in STORED_JOB_FIELDS if name not in POLICY_FIELDS)


def read_spec_values(spec: JobSpec) -> dict[str, Any]:
    """Return every field of a declared job, including the policy fields."""
    own = {name: _to_plain(getattr(spec, name)) for name in OWN_FIELDS}
    return own | write_policy(spec.policy)


def read_row_values(row: Any) -> dict[str, Any]:
    """Return every field of a stored job except the policy fields; JSON columns are text."""
    return {name: _from_row(name, getattr(row, name)) for name in OWN_FIELDS}


def read_details(spec: JobSpec) -> dict[str, object]:
    """Return the details of a job (`DETAIL_COLUMNS`) that are not null."""
    values = {name: getattr(spec, name) for name in DETAIL_COLUMNS}
    return {name: value for name, value in values.items() if value is not None}


def build_policy_response(policy: object) -> dict[str, Any]:
    """Return the fields of a stored policy for responses: null means no limit, and unknown values
    are kept. A document that is not a policy shows the defaults.
    """
    stored = policy if isinstance(policy, Mapping) else {}
    shown = {name: stored.get(name, JOB_DEFAULTS[name]) for name in POLICY_FIELDS}
    return {name: None if value == NO_LIMIT else value for name, value in shown.items()}


def _to_plain(value: object) -> object:
    match value:
        case StrEnum():
            return value.value
        case tuple():
            return [write_limit(item) if isinstance(item, JobLimit) else item for item in value]
        case Mapping():
            return dict(value)
        case _:
            return value


def _from_row(name: str, value: Any) -> Any:
    if JOB_FIELDS[name].is_json:
        value = None if value is None else json.loads(value)
    if value is None:
        # If the kind or queue of a row is missing, show an empty name, not the default.
        return "" if JOB_FIELDS[name].shown_type is str else JOB_DEFAULTS[name]
    return _to_plain(value)


# The values of a job for which only the name was given.
JOB_DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType(
    {name: NO_LIMIT for name in POLICY_FIELDS if getattr(DEFAULT_POLICY, name) is None}
    | read_spec_values(JobSpec(name="", kind=""))
)
