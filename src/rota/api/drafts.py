"""From the JSON of a job to what flow/submit takes. Room: api.

The flat fields and the nested `schedule` are two ways to say the same; saying both is refused
unless they agree on nothing but the type. All checks of values are core's: here is only who is who.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType, to_builtins

from rota.api.shapes.jobs import Details, JobDraft, JobEdit, LimitDraft, RetriesDraft
from rota.core import aliases, uniqueness
from rota.core import policy as policies
from rota.core.errors import InvalidInput
from rota.core.limits import Limit, Rate
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.policy import Policy
from rota.core.priority import DEFAULT, parse_priority
from rota.core.submission import JobSpec, within
from rota.core.time import durations
from rota.flow.submit.changing import KEEP, Edit

FLAT: Final = ("schedule_time", "cron_expression")
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
POLICY: Final = ("timeout", "deadline", "grace", "guarantee", "target")


def spec_of(draft: JobDraft, *, tenant: str, suffix: Callable[[], str]) -> JobSpec:
    """A job that is to be made. `suffix` makes the name of a nameless one its own."""
    kind = kind_of(draft)
    name = draft.name
    if name is UNSET and kind is UNSET:
        raise InvalidInput("name", None, "a name, or a kind to name it after")
    if name is UNSET:
        name = f"{str(kind)[:160]} {suffix()}"
    return JobSpec(
        name=name,
        kind=name if kind is UNSET else kind,
        tenant=tenant,
        queue=given(draft.queue, "default"),
        schedule=schedule_of(draft) or {"immediate": True},
        payload=given(draft.payload, None),
        graph=given(draft.graph, None),
        policy=policy_of(draft, policies.USUAL),
        priority=parse_priority(given(draft.priority, DEFAULT)),
        overlap=Overlap(given(draft.overlap, Overlap.SKIP)),
        keep_first=given(draft.keep_first, False),
        when_queue_paused=WhenQueuePaused(given(draft.when_queue_paused, WhenQueuePaused.SKIP)),
        limits=limits_of(given(draft.limits, [])),
        labels=given(draft.labels, {}),
        user_id=given(draft.user_id, None),
        unique=None if draft.unique is UNSET else uniqueness.from_plain(to_builtins(draft.unique)),
    )


def edit_of(edit: JobEdit, *, policy: Policy) -> Edit:
    """What is to be different about a job whose policy is this one."""
    kind = kind_of(edit)
    changed = policy_of(edit, policy)
    return Edit(
        schedule=kept(schedule_of(edit) or UNSET),
        payload=kept(edit.payload),
        policy=KEEP if changed == policy else changed,
        name=kept(edit.name),
        kind=kept(kind),
        graph=kept(edit.graph),
        queue=kept(edit.queue),
        priority=KEEP if edit.priority is UNSET else parse_priority(edit.priority),
        overlap=KEEP if edit.overlap is UNSET else Overlap(edit.overlap),
        keep_first=kept(edit.keep_first),
        when_queue_paused=(
            KEEP if edit.when_queue_paused is UNSET else WhenQueuePaused(edit.when_queue_paused)
        ),
        limits=KEEP if edit.limits is UNSET else limits_of(edit.limits),
        labels=kept(edit.labels),
        user_id=kept(edit.user_id),
    )


def given(value: Any, usual: Any) -> Any:
    return usual if value is UNSET else value


def kept(value: Any) -> Any:
    return KEEP if value is UNSET else value


def kind_of(details: Details) -> str | UnsetType:
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


def schedule_of(details: Details) -> Mapping[str, object] | None:
    """When to run, in the plain form; None if nothing is said about it."""
    wanted = None if details.schedule_type is UNSET else details.schedule_type
    plain = _nested(details) if details.schedule is not UNSET else _flat(details, wanted)
    if plain is None:
        return None
    if wanted in RULES and not any(rule in plain for rule in RULES[wanted]):
        fields = " or ".join(RULES[wanted])
        raise InvalidInput("schedule_type", wanted, f"a schedule with {fields} to go with it")
    return plain


def _nested(details: Details) -> dict[str, object]:
    for field in (*FLAT, "timezone"):
        if getattr(details, field) is not UNSET:
            wanted = "it inside `schedule`, or no `schedule`; one way to say when"
            raise InvalidInput(field, getattr(details, field), wanted)
    return dict(given(details.schedule, {}))


def _flat(details: Details, wanted: str | None) -> dict[str, object] | None:
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


def policy_of(details: Details, before: Policy) -> Policy:
    """The policy with what is said about it here; the rest is as before."""
    # In JSON null is somebody's word; in core, where a field may be missing, it would be the usual.
    said: dict[str, object] = {
        field: policies.NO_LIMIT if value is None else value
        for field in POLICY
        if (value := getattr(details, field)) is not UNSET
    }
    retries = _retries(details)
    if retries is not None:
        said["retries"] = retries
    if not said:
        return before
    # What the caller says is read strictly, what was stored is not: it may have more fields.
    policies.from_plain(said)
    plain = policies.to_plain(before)
    if isinstance(retries, int):
        said["retries"] = {**_mapping(plain["retries"]), "max": retries}
    return policies.read_stored(plain | said)


def _retries(details: Details) -> int | dict[str, object] | None:
    most, retries = details.max_retries, details.retries
    if isinstance(retries, RetriesDraft):
        asked: dict[str, object] = to_builtins(retries)
        if most is not UNSET and asked.setdefault("max", most) != most:
            raise InvalidInput("max_retries", most, "the same number as retries.max, or none")
        return asked
    if most is not UNSET and retries is not UNSET and most != retries:
        raise InvalidInput("max_retries", most, "the same number as `retries`, or none")
    if most is not UNSET:
        return most
    return None if retries is UNSET else retries


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def limits_of(drafts: list[LimitDraft]) -> tuple[Limit, ...]:
    return tuple(_limit(place, draft) for place, draft in enumerate(drafts))


def _limit(place: int, draft: LimitDraft) -> Limit:
    with within(f"limits[{place}]"):
        rate = None
        if draft.rate is not None:
            per = durations.parse(draft.rate.per, field="rate.per")
            rate = Rate(count=draft.rate.count, per=per, burst=draft.rate.burst)
        return Limit(key=draft.key, most=draft.max, rate=rate)
