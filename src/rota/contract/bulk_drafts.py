"""Groups the submissions of a bulk request that differ in a few fields only.

Most submissions of one request have the same kind, queue and policy. They share one spec, which is
read and checked once (engine/submission/drafts.py).
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from msgspec import UNSET

from rota.contract.job import JobDraft
from rota.contract.job_drafts import build_spec, value_or_default
from rota.core.submissions import SpecColumns, SpecVariant, index_errors

# Fields in which submissions that share a spec may differ, or that are compared separately.
OWN_FIELD_NAMES: Final = frozenset(
    {"name", "payload", "labels", "user_id", "schedule_time", "schedule"}
)
_shared: Final = attrgetter(
    *(name for name in JobDraft.__struct_fields__ if name not in OWN_FIELD_NAMES)
)


def build_variants(drafts: Sequence[JobDraft], *, tenant: str) -> list[SpecVariant]:
    """Return a variant per draft; neighbours that differ only in `OWN` share one spec."""
    variants: list[SpecVariant] = []
    before, spec = None, None
    with index_errors(variants):
        for draft in drafts:
            at = _own_time(draft)
            # Compared as text: JSON's true is not equal to 1, Python's True is.
            shared = _shared(draft), at is None and str(draft.schedule)
            # Without `kind`, or with `job_type`, the kind depends on other fields.
            has_own_kind = draft.kind is UNSET or draft.job_type is not UNSET
            if spec is None or shared != before or has_own_kind:
                before, spec = shared, build_spec(draft, tenant=tenant)
            variants.append(
                SpecVariant(
                    spec,
                    value_or_default(draft.name, None),
                    value_or_default(draft.payload, None),
                    value_or_default(draft.labels, {}),
                    value_or_default(draft.user_id, None),
                    at,
                )
            )
    return variants


def build_columns(drafts: Sequence[JobDraft], *, tenant: str) -> SpecColumns | None:
    """Return the drafts by column. Returns None if they differ in fields other than `OWN`, if a
    schedule is more than a time, or if the kind depends on other fields.
    """
    first = drafts[0]
    if len(drafts) == 1 or first.kind is UNSET or first.job_type is not UNSET:
        return None
    shared = _shared(first)
    if any(_shared(draft) != shared for draft in drafts):
        return None
    ats = [_own_time(draft) for draft in drafts]
    timed = sum(at is not None for at in ats)
    if 0 < timed < len(ats) or (not timed and any(d.schedule is not UNSET for d in drafts)):
        return None
    return SpecColumns(
        build_spec(first, tenant=tenant),
        [value_or_default(draft.name, None) for draft in drafts],
        [value_or_default(draft.payload, None) for draft in drafts],
        [value_or_default(draft.labels, None) for draft in drafts],
        [value_or_default(draft.user_id, None) for draft in drafts],
        ats if timed else None,
    )


def _own_time(draft: JobDraft) -> object:
    """Return the time of a schedule that consists of a time only; None for other schedules."""
    if draft.timezone is not UNSET:
        return None
    if draft.schedule is UNSET:
        return value_or_default(draft.schedule_time, None)
    return draft.schedule.get("at") if len(draft.schedule) == 1 else None
