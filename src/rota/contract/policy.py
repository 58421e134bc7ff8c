"""How the runs of a job are carried out, as a document: retries, limits, guarantee. Room: contract.

The fields are those of a job that are part of its policy (job.py). A policy is interned by its
canonical text: jobs that say the same share one row, and a run keeps the policy it was made with.
`from_policy` writes the defaults of the first five fields out, so that a release with other
defaults changes nothing about stored jobs. A field that was added later is written only where it
differs from its default, so that the text of older policies stays the same.
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
from rota.contract.job import FIELDS, POLICY_FIELDS
from rota.contract.retries import RetriesDraft, from_retries, to_retries
from rota.core.documents import newer
from rota.core.errors import InvalidInput, NewerDocument
from rota.core.policy import NO_LIMIT, USUAL, NewerPolicy, Policy
from rota.core.retry import Retries
from rota.core.time import durations

ALWAYS_WRITTEN: Final = frozenset({"retries", "timeout", "deadline", "grace", "guarantee"})
# A policy by itself, as graphs and the database have it. `Any`: its fields are those of a job.
PolicyDraft: Any = defstruct(
    "PolicyDraft",
    [(name, FIELDS[name].type, UNSET) for name in POLICY_FIELDS],
    kw_only=True,
    forbid_unknown_fields=True,
)


def read_policy(value: Mapping[str, object], *, path: str = "") -> Policy:
    """Read a policy that a person or a program wrote; null counts as left out."""
    return to_policy(read_input(PolicyDraft, _given(value), path=path))


def read_stored_policy(value: Mapping[str, object]) -> Policy:
    """Read a policy from the database. Unknown fields are ignored and kept, and so are unknown
    ways to wait before a retry, in place of which the default holds. `NewerDocument` if anything
    else is unknown: a guarantee cannot be guessed.
    """
    return _change_stored(USUAL, value)


def known_policy(value: Mapping[str, object]) -> Policy:
    """As `read_stored_policy`; but an unknown policy does not keep the caller from the others."""
    try:
        return read_stored_policy(value)
    except NewerDocument as error:
        return NewerPolicy(reason=str(error))


def step_policy(said: Mapping[str, object], job: Policy) -> Policy:
    """Return how a step's attempts are made: as its job's, except for what the step says itself.

    The deadline of the job is the graph's as a whole; a step does not inherit it.
    """
    return _change_stored(replace(job, deadline=None), said)


def to_policy(draft: Struct) -> Policy:
    """Turn the fields of a policy, or of a whole job, into core's value."""
    return change_policy(USUAL, draft)


def change_policy(before: Policy, draft: Struct) -> Policy:
    """Return a policy with what the fields say; the rest is as before.

    A number of retries keeps how they are spaced; an object replaces it.
    """
    said = {name: getattr(draft, name) for name in POLICY_FIELDS}
    said = {name: value for name, value in said.items() if value is not UNSET}
    if not said:
        return before
    values: dict[str, Any] = {name: _to_core(name, value, before) for name, value in said.items()}
    return replace(before, **values, unread=_still_unread(before, said))


def from_policy(policy: Policy) -> dict[str, object]:
    """Return the canonical form, of types that JSON has."""
    plain = {
        name: to_plain(value)
        for name in POLICY_FIELDS
        if (value := getattr(policy, name)) != getattr(USUAL, name) or name in ALWAYS_WRITTEN
    }
    return plain | dict(policy.unread)


def to_plain(value: object) -> object:
    """Return a value of a policy as JSON has it."""
    match value:
        case None:
            return NO_LIMIT
        case Retries():
            return from_retries(value)
        case timedelta():
            return durations.iso(value)
        case StrEnum():
            return value.value
        case _:
            return value


def _change_stored(before: Policy, value: Mapping[str, object]) -> Policy:
    draft, unread = read_stored(PolicyDraft, _given(value))
    try:
        policy = change_policy(before, draft)
    except InvalidInput as error:
        raise newer(error) from error
    return replace(policy, unread={**policy.unread, **unread}) if unread else policy


def _given(value: object) -> object:
    """Return an object without nulls; what is no object is left to the reader, which refuses it."""
    if not isinstance(value, Mapping):
        return value
    return {name: item for name, item in value.items() if item is not None}


def _to_core(name: str, value: Any, before: Policy) -> object:
    type_ = _core_types()[name]
    if isinstance(value, RetriesDraft):
        return to_retries(value)
    if type_ is Retries:
        return replace(before.retries, most=value)
    if (value is None or value == NO_LIMIT) and NoneType in get_args(type_):
        return None
    if type_ is timedelta or timedelta in get_args(type_):
        bounds = find_extra(FIELDS[name].type)
        allowed = {key: bounds[key] for key in ("shortest", "longest") if key in bounds}
        return durations.parse(value, field=name, **allowed)
    return type_(value) if isinstance(type_, type) and issubclass(type_, StrEnum) else value


@cache
def _core_types() -> dict[str, Any]:
    return get_type_hints(Policy)


def _still_unread(before: Policy, said: Mapping[str, Any]) -> dict[str, object]:
    """Return the stored fields that only newer code reads, without those that were replaced."""
    unread = {name: value for name, value in before.unread.items() if name not in said}
    retries, kept = said.get("retries"), before.unread.get("retries")
    if isinstance(retries, int) and isinstance(kept, Mapping):
        unread["retries"] = {**kept, "max": retries}
    return unread
