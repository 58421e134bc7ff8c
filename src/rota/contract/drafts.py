"""From the fields of a job to what is written: `JobSpec`. Room: contract.

The flat fields and the nested `schedule` are two ways to say the same; saying both is refused
unless they agree on nothing but the type. Values by themselves are checked by their types and core.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, Final, get_type_hints

from msgspec import UNSET, UnsetType, convert, structs, to_builtins

from rota.contract.documents import read_input
from rota.contract.job import DETAIL_COLUMNS, POLICY_FIELDS, STORED_FIELDS, JobDraft, JobFields
from rota.contract.limits import to_limits
from rota.contract.policy import change_policy
from rota.contract.retries import RetriesDraft
from rota.contract.unique import to_unique
from rota.core import aliases
from rota.core.errors import InvalidInput
from rota.core.policy import USUAL, Policy
from rota.core.priority import parse_priority
from rota.core.submission import JobSpec, after, check_text

FLAT: Final = ("schedule_time", "cron_expression")
AT_ONCE: Final = {"immediate": True}
# The rules that each type may be said with.
RULES: Final = {
    "IMMEDIATE": ("immediate",),
    "FUTURE": ("at",),
    "DELAYED": ("after",),
    "CRON": ("cron",),
    "RRULE": ("rrule",),
    "INTERVAL": ("every", "fixed_delay"),
    "EVENT": ("event",),
    "ON_DEMAND": ("on_demand",),
}
# How the value of a field becomes core's; the others are as they were given.
CONVERSIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "priority": parse_priority,
    "limits": to_limits,
    **{
        name: partial(check_text, name=name)
        for name, type_ in DETAIL_COLUMNS.items()
        if type_ == "text"
    },
    **{
        name: type_
        for name, type_ in get_type_hints(JobSpec).items()
        if isinstance(type_, type) and issubclass(type_, StrEnum)
    },
}
# What a job says in one field; its name, kind, schedule and policy may come from several.
PLAIN_FIELDS: Final = tuple(
    name for name in STORED_FIELDS if name not in {"name", "kind", "schedule", *POLICY_FIELDS}
)


def read_draft(given: Mapping[str, Any]) -> JobDraft:
    """Read the fields of a job that a program wrote; None counts as left out.

    Dates, durations, UUIDs and dataclasses become what JSON has, as on their way to the API.
    """
    plain: dict[str, object] = {}
    for name, value in given.items():
        try:
            plain[name] = to_builtins(value, str_keys=True)
        except (TypeError, ValueError) as error:
            raise InvalidInput(name, value, f"values that JSON can hold ({error})") from None
    return read_input(JobDraft, {name: value for name, value in plain.items() if value is not None})


def read_drafts(jobs: Sequence[Mapping[str, Any]]) -> list[JobDraft]:
    """Read the fields of several jobs at once; an error says which of them is wrong."""
    try:
        given = [
            {name: value for name, value in fields.items() if value is not None}
            if None in fields.values()
            else fields
            for fields in jobs
        ]
        return convert(to_builtins(given, str_keys=True), list[JobDraft])
    except (TypeError, ValueError):
        # One by one, to say what is wrong with which.
        drafts: list[JobDraft] = []
        with after(drafts):
            for fields in jobs:
                drafts.append(read_draft(fields))  # noqa: PERF401 — its length tells the place
        return drafts


def spec_of(draft: JobDraft, *, tenant: str) -> JobSpec:
    """A job or a submission that is to be made."""
    kind = kind_of(draft)
    name = draft.name
    if name is UNSET and kind is UNSET:
        raise InvalidInput("name", None, "a name, or a kind to name it after")
    return JobSpec(
        name=None if name is UNSET else name,
        kind=str(name) if kind is UNSET else kind,
        tenant=tenant,
        schedule=schedule_of(draft) or AT_ONCE,
        policy=policy_of(draft, USUAL),
        unique=None if draft.unique is UNSET else to_unique(draft.unique),
        **plain_values(draft),
    )


def plain_values(details: JobFields) -> dict[str, Any]:
    """Return the fields that were given and mean the same by themselves, as core has them."""
    values = {name: getattr(details, name) for name in PLAIN_FIELDS}
    return {
        name: CONVERSIONS[name](value) if name in CONVERSIONS else value
        for name, value in values.items()
        if value is not UNSET
    }


def given(value: Any, usual: Any) -> Any:
    return usual if value is UNSET else value


def kind_of(details: JobFields) -> str | UnsetType:
    """`job_type` is another name for `kind`, and knows the words of core/aliases.py."""
    kind, said = details.kind, details.job_type
    if said is UNSET or (said == aliases.CUSTOM and kind is not UNSET):
        return kind
    meant = aliases.kind_of_job_type(
        said, payload=given(details.payload, None), name=given(details.name, None)
    )
    if kind is not UNSET and kind != meant:
        raise InvalidInput("job_type", said, f"the kind, {kind!r}, or none")
    return meant


def schedule_of(details: JobFields) -> Mapping[str, object] | None:
    """When to run, in the plain form; None if nothing is said about it."""
    wanted = None if details.schedule_type is UNSET else details.schedule_type
    plain = _nested(details) if details.schedule is not UNSET else _flat(details, wanted)
    if plain is None:
        return None
    if wanted in RULES and not any(rule in plain for rule in RULES[wanted]):
        fields = " or ".join(RULES[wanted])
        raise InvalidInput("schedule_type", wanted, f"a schedule with {fields} to go with it")
    return plain


def _nested(details: JobFields) -> dict[str, object]:
    for field in (*FLAT, "timezone"):
        if getattr(details, field) is not UNSET:
            wanted = "it inside `schedule`, or no `schedule`; one way to say when"
            raise InvalidInput(field, getattr(details, field), wanted)
    return dict(given(details.schedule, {}))


def _flat(details: JobFields, wanted: str | None) -> dict[str, object] | None:
    if details.schedule_time is not UNSET and details.cron_expression is not UNSET:
        raise InvalidInput(
            "cron_expression", details.cron_expression, "a time or an expression, not both"
        )
    plain: dict[str, object] = {}
    if details.schedule_time is not UNSET:
        plain["at"] = details.schedule_time
    elif details.cron_expression is not UNSET:
        plain["cron"] = details.cron_expression
    elif wanted == "IMMEDIATE":
        plain["immediate"] = True
    elif wanted == "ON_DEMAND":
        plain["on_demand"] = True
    elif wanted is not None:
        fields = {"FUTURE": "schedule_time", "CRON": "cron_expression"}.get(wanted, "schedule")
        raise InvalidInput("schedule_type", wanted, f"`{fields}` to go with it")
    elif details.timezone is not UNSET:
        raise InvalidInput("timezone", details.timezone, "a schedule that it is about")
    else:
        return None
    if details.timezone is not UNSET:
        plain["timezone"] = details.timezone
    return plain


def policy_of(details: JobFields, before: Policy) -> Policy:
    """Return the policy with what is said about it here; the rest is as before."""
    most, retries = details.max_retries, details.retries
    if most is UNSET:
        return change_policy(before, details)
    if isinstance(retries, RetriesDraft):
        if retries.max not in {None, most}:
            raise InvalidInput("max_retries", most, "the same number as retries.max, or none")
        retries = structs.replace(retries, max=most)
    elif retries is not UNSET and retries != most:
        raise InvalidInput("max_retries", most, "the same number as `retries`, or none")
    else:
        retries = most
    return change_policy(before, structs.replace(details, retries=retries))
