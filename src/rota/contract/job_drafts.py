"""Converts the fields of a job into a `JobSpec`.

A schedule is given either in flat fields (`schedule_time`, `cron_expression`) or in `schedule`;
giving both is rejected. Types and core check the single values.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, Final, get_type_hints

from msgspec import UNSET, UnsetType, convert, structs, to_builtins

from rota.contract.documents import read_input
from rota.contract.expectation_values import write_alert, write_expect
from rota.contract.job import DETAIL_COLUMNS, POLICY_FIELDS, STORED_JOB_FIELDS, JobDraft, JobFields
from rota.contract.limits import to_limits
from rota.contract.policy import change_policy
from rota.contract.retries import RetriesDraft
from rota.contract.unique import to_unique
from rota.core import aliases
from rota.core.errors import InvalidInput
from rota.core.lanes import parse_priority
from rota.core.policy import DEFAULT_POLICY, Policy
from rota.core.submissions import JobSpec, check_text, index_errors

FLAT_FIELDS: Final = ("schedule_time", "cron_expression")
IMMEDIATE_SCHEDULE: Final = {"immediate": True}
# The rules that each `schedule_type` allows.
RULES_BY_TYPE: Final = {
    "IMMEDIATE": ("immediate",),
    "FUTURE": ("at",),
    "DELAYED": ("after",),
    "CRON": ("cron",),
    "RRULE": ("rrule",),
    "INTERVAL": ("every", "fixed_delay"),
    "EVENT": ("event",),
    "ON_DEMAND": ("on_demand",),
}
# How the values of fields are converted into core's; the other values are used as they are.
CONVERSIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "priority": parse_priority,
    "limits": to_limits,
    "expect": write_expect,
    "alert": write_alert,
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
# Fields that map to one field of `JobSpec`; name, kind, schedule and policy come from several.
PLAIN_FIELDS: Final = tuple(
    name for name in STORED_JOB_FIELDS if name not in {"name", "kind", "schedule", *POLICY_FIELDS}
)


def read_draft(fields: Mapping[str, Any]) -> JobDraft:
    """Read the fields of a job from a program; a field that is None has its default.

    Dates, durations, UUIDs and dataclasses are converted into JSON values, as in an API request.
    """
    plain: dict[str, object] = {}
    for name, value in fields.items():
        try:
            plain[name] = to_builtins(value, str_keys=True)
        except (TypeError, ValueError) as error:
            wanted = f"cannot be written as JSON ({error})"
            raise InvalidInput(name, value, wanted) from None
    return read_input(JobDraft, {name: value for name, value in plain.items() if value is not None})


def read_drafts(jobs: Sequence[Mapping[str, Any]]) -> list[JobDraft]:
    """Read the fields of several jobs; an error has the index of the wrong one."""
    try:
        plain = [
            {name: value for name, value in fields.items() if value is not None}
            if None in fields.values()
            else fields
            for fields in jobs
        ]
        return convert(to_builtins(plain, str_keys=True), list[JobDraft])
    except (TypeError, ValueError):
        # Read them one by one, to find the wrong one.
        drafts: list[JobDraft] = []
        with index_errors(drafts):
            for fields in jobs:
                drafts.append(read_draft(fields))  # noqa: PERF401 — `after` needs its length
        return drafts


def build_spec(draft: JobDraft, *, tenant: str) -> JobSpec:
    """Convert a draft into the spec of a job or of a one-time submission."""
    kind = resolve_kind(draft)
    name = draft.name
    if name is UNSET and kind is UNSET:
        wanted = "required, or give `kind`, from which a name is derived"
        raise InvalidInput("name", None, wanted)
    return JobSpec(
        name=None if name is UNSET else name,
        kind=str(name) if kind is UNSET else kind,
        tenant=tenant,
        schedule=resolve_schedule(draft) or IMMEDIATE_SCHEDULE,
        policy=resolve_policy(draft, DEFAULT_POLICY),
        unique=None if draft.unique is UNSET else to_unique(draft.unique),
        **convert_plain_fields(draft),
    )


def convert_plain_fields(details: JobFields) -> dict[str, Any]:
    """Return the given fields that map to one field of `JobSpec`, as core's values."""
    values = {name: getattr(details, name) for name in PLAIN_FIELDS}
    return {
        name: CONVERSIONS[name](value) if name in CONVERSIONS else value
        for name, value in values.items()
        if value is not UNSET
    }


def value_or_default(value: Any, default: Any) -> Any:
    return default if value is UNSET else value


def resolve_kind(details: JobFields) -> str | UnsetType:
    """Return the kind, from `kind` or from `job_type`, which also accepts the names in
    core/aliases.py.
    """
    kind, job_type = details.kind, details.job_type
    if job_type is UNSET or (job_type == aliases.CUSTOM_JOB_TYPE and kind is not UNSET):
        return kind
    resolved = aliases.resolve_job_type(
        job_type,
        payload=value_or_default(details.payload, None),
        name=value_or_default(details.name, None),
    )
    if kind is not UNSET and kind != resolved:
        wanted = f"contradicts kind {kind!r}; give only one of them"
        raise InvalidInput("job_type", job_type, wanted)
    return resolved


def resolve_schedule(details: JobFields) -> Mapping[str, object] | None:
    """Return the schedule as a plain object; None if no field sets it."""
    type_ = None if details.schedule_type is UNSET else details.schedule_type
    if details.schedule is not UNSET:
        plain: dict[str, object] | None = _read_nested_schedule(details)
    else:
        plain = _read_flat_schedule(details, type_)
    if plain is None:
        return None
    if type_ in RULES_BY_TYPE and not any(rule in plain for rule in RULES_BY_TYPE[type_]):
        fields = " or ".join(RULES_BY_TYPE[type_])
        raise InvalidInput("schedule_type", type_, f"needs a schedule with {fields}")
    return plain


def _read_nested_schedule(details: JobFields) -> dict[str, object]:
    for field in (*FLAT_FIELDS, "timezone"):
        if getattr(details, field) is not UNSET:
            wanted = f"cannot be combined with `schedule`; give {field} inside it, or omit one"
            raise InvalidInput(field, getattr(details, field), wanted)
    return dict(value_or_default(details.schedule, {}))


def _read_flat_schedule(details: JobFields, type_: str | None) -> dict[str, object] | None:
    if details.schedule_time is not UNSET and details.cron_expression is not UNSET:
        wanted = "give either schedule_time or cron_expression"
        raise InvalidInput("cron_expression", details.cron_expression, wanted)
    plain: dict[str, object] = {}
    if details.schedule_time is not UNSET:
        plain["at"] = details.schedule_time
    elif details.cron_expression is not UNSET:
        plain["cron"] = details.cron_expression
    elif type_ == "IMMEDIATE":
        plain["immediate"] = True
    elif type_ == "ON_DEMAND":
        plain["on_demand"] = True
    elif type_ is not None:
        needed = {"FUTURE": "schedule_time", "CRON": "cron_expression"}.get(type_, "schedule")
        raise InvalidInput("schedule_type", type_, f"needs `{needed}`")
    elif details.timezone is not UNSET:
        wanted = "needs `schedule_time` or `cron_expression`"
        raise InvalidInput("timezone", details.timezone, wanted)
    else:
        return None
    if details.timezone is not UNSET:
        plain["timezone"] = details.timezone
    return plain


def resolve_policy(details: JobFields, before: Policy) -> Policy:
    """Return the policy with the fields that are given; the others keep their values."""
    max_retries, retries = details.max_retries, details.retries
    if max_retries is UNSET:
        return change_policy(before, details)
    if isinstance(retries, RetriesDraft):
        if retries.max not in {None, max_retries}:
            wanted = f"contradicts retries.max {retries.max}; give only one of them"
            raise InvalidInput("max_retries", max_retries, wanted)
        retries = structs.replace(retries, max=max_retries)
    elif retries is not UNSET and retries != max_retries:
        wanted = f"contradicts retries {retries}; give only one of them"
        raise InvalidInput("max_retries", max_retries, wanted)
    else:
        retries = max_retries
    return change_policy(before, structs.replace(details, retries=retries))
