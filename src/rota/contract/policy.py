"""Reads and writes the policy of a job: retries, time limits, guarantee, target.

Its fields are the fields of a job that are marked as policy (job.py). A policy is interned by its
canonical text: jobs with equal policies share one row, and a run keeps the policy it was created
with. `write_policy` writes the first five fields even where they have their defaults, so that a
release with other defaults does not change stored jobs. A field that was added later is written
only if it differs from its default, so that the text of older policies stays the same.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import Any, Final, get_args, get_type_hints

from msgspec import UNSET, Struct, defstruct

from rota.contract.documents import find_extra, read_input, read_stored
from rota.contract.job import JOB_FIELDS, POLICY_FIELDS
from rota.contract.retries import RetriesDraft, to_retries, write_retries
from rota.core.errors import InvalidInput, NewerDocument
from rota.core.policy import DEFAULT_POLICY, NO_LIMIT, Policy, RetryPolicy, UnreadablePolicy
from rota.core.stored_documents import to_newer_document
from rota.core.time import durations

ALWAYS_WRITTEN_FIELDS: Final = frozenset({"retries", "timeout", "deadline", "grace", "guarantee"})
# A policy without the other fields of a job, as graphs and the database have it. `Any`: the fields
# are taken from `JobFields` at run time.
PolicyDraft: Any = defstruct(
    "PolicyDraft",
    [(name, JOB_FIELDS[name].type, UNSET) for name in POLICY_FIELDS],
    kw_only=True,
    forbid_unknown_fields=True,
)


def read_policy(value: Mapping[str, object], *, path: str = "") -> Policy:
    """Read a policy from input; a null field has its default."""
    return to_policy(read_input(PolicyDraft, _drop_nulls(value), path=path))


def read_stored_policy(value: Mapping[str, object]) -> Policy:
    """Read a policy from the database. Unknown fields are ignored and kept. An unknown retry kind
    or jitter is kept as well, and the default is used. Raises `NewerDocument` if any other value is
    unknown: a guarantee cannot be guessed.
    """
    return _change_stored(DEFAULT_POLICY, value)


def read_policy_or_unreadable(value: Mapping[str, object]) -> Policy:
    """Like `read_stored_policy`, but return `UnreadablePolicy` for an unknown policy, so that a
    caller that reads many policies can go on with the others.
    """
    try:
        return read_stored_policy(value)
    except NewerDocument as error:
        return UnreadablePolicy(reason=str(error))


def build_step_policy(own: Mapping[str, object], job: Policy) -> Policy:
    """Return the policy of a step: the job's policy, changed by the fields of the step.

    A step does not inherit the deadline of the job, which limits the whole graph run.
    """
    return _change_stored(replace(job, deadline=None), own)


def to_policy(draft: Struct) -> Policy:
    """Convert the policy fields of a draft into core's value; omitted fields have defaults."""
    return change_policy(DEFAULT_POLICY, draft)


def change_policy(before: Policy, draft: Struct) -> Policy:
    """Return a policy with the fields that are set in the draft; the others keep their values.

    A number of retries keeps the delays between them; an object replaces the delays.
    """
    given = {name: getattr(draft, name) for name in POLICY_FIELDS}
    changes = {name: value for name, value in given.items() if value is not UNSET}
    if not changes:
        return before
    values: dict[str, Any] = {
        name: _to_core(name, value, before) for name, value in changes.items()
    }
    return replace(before, **values, unread=_keep_unread(before, changes))


def write_policy(policy: Policy) -> dict[str, object]:
    """Return the canonical form as JSON values."""
    plain = {
        name: to_plain(value)
        for name in POLICY_FIELDS
        if (value := getattr(policy, name)) != getattr(DEFAULT_POLICY, name)
        or name in ALWAYS_WRITTEN_FIELDS
    }
    return plain | dict(policy.unread)


def to_plain(value: object) -> object:
    """Return a value of a policy as a JSON value."""
    match value:
        case None:
            return NO_LIMIT
        case RetryPolicy():
            return write_retries(value)
        case timedelta():
            return durations.to_iso(value)
        case StrEnum():
            return value.value
        case _:
            return value


def _change_stored(before: Policy, value: Mapping[str, object]) -> Policy:
    draft, unread = read_stored(PolicyDraft, _drop_nulls(value))
    try:
        policy = change_policy(before, draft)
    except InvalidInput as error:
        raise to_newer_document(error) from error
    return replace(policy, unread={**policy.unread, **unread}) if unread else policy


def _drop_nulls(value: object) -> object:
    """Return an object without null fields; return any other value as it is, to be rejected."""
    if not isinstance(value, Mapping):
        return value
    return {name: item for name, item in value.items() if item is not None}


def _to_core(name: str, value: Any, before: Policy) -> object:
    type_ = _core_types()[name]
    if isinstance(value, RetriesDraft):
        return to_retries(value)
    if type_ is RetryPolicy:
        return replace(before.retries, max_retries=value)
    if (value is None or value == NO_LIMIT) and NoneType in get_args(type_):
        return None
    if type_ is timedelta or timedelta in get_args(type_):
        bounds = find_extra(JOB_FIELDS[name].type)
        names = {"shortest": "minimum", "longest": "maximum"}
        allowed = {names[key]: bounds[key] for key in names if key in bounds}
        return durations.parse(value, field=name, **allowed)
    return type_(value) if isinstance(type_, type) and issubclass(type_, StrEnum) else value


@cache
def _core_types() -> dict[str, Any]:
    return get_type_hints(Policy)


def _keep_unread(before: Policy, changes: Mapping[str, Any]) -> dict[str, object]:
    """Return the stored fields that only newer code reads, except the fields that changed."""
    unread = {name: value for name, value in before.unread.items() if name not in changes}
    retries, stored = changes.get("retries"), before.unread.get("retries")
    if isinstance(retries, int) and isinstance(stored, Mapping):
        unread["retries"] = {**stored, "max": retries}
    return unread
