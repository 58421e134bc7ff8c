"""Finds neighbours in a bulk that differ in a few fields only. Room: contract.

Most of a thousand submissions in one request have the same kind, queue and policy. They get one
spec, which is read and checked once (flow/submit/drafting.py).
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from msgspec import UNSET

from rota.contract.drafts import given, spec_of
from rota.contract.job import JobDraft
from rota.core.submission import SpecColumns, SpecVariant, after

# What each of them may have for itself, or what is compared in another way.
OWN: Final = frozenset({"name", "payload", "labels", "user_id", "schedule_time", "schedule"})
_shared: Final = attrgetter(*(name for name in JobDraft.__struct_fields__ if name not in OWN))


def variants_of(drafts: Sequence[JobDraft], *, tenant: str) -> list[SpecVariant]:
    """What the drafts ask for; neighbours that differ in `OWN` only have the same spec."""
    variants: list[SpecVariant] = []
    before, spec = None, None
    with after(variants):
        for draft in drafts:
            at = _own_time(draft)
            # As text: in JSON true is not 1.
            like = _shared(draft), at is None and str(draft.schedule)
            if spec is None or like != before or draft.kind is UNSET or draft.job_type is not UNSET:
                # Without a kind, or with another name for it, the kind depends on the rest.
                before, spec = like, spec_of(draft, tenant=tenant)
            variants.append(
                SpecVariant(
                    spec,
                    given(draft.name, None),
                    given(draft.payload, None),
                    given(draft.labels, {}),
                    given(draft.user_id, None),
                    at,
                )
            )
    return variants


def columns_of(drafts: Sequence[JobDraft], *, tenant: str) -> SpecColumns | None:
    """The drafts by column, if they differ in `OWN` only and only their time is the schedule; None
    if they differ in more, or if their kind must be found out.
    """
    first = drafts[0]
    if len(drafts) == 1 or first.kind is UNSET or first.job_type is not UNSET:
        return None
    like = _shared(first)
    if any(_shared(draft) != like for draft in drafts):
        return None
    ats = [_own_time(draft) for draft in drafts]
    timed = sum(at is not None for at in ats)
    if 0 < timed < len(ats) or (not timed and any(d.schedule is not UNSET for d in drafts)):
        return None
    return SpecColumns(
        spec_of(first, tenant=tenant),
        [given(draft.name, None) for draft in drafts],
        [given(draft.payload, None) for draft in drafts],
        [given(draft.labels, None) for draft in drafts],
        [given(draft.user_id, None) for draft in drafts],
        ats if timed else None,
    )


def _own_time(draft: JobDraft) -> object:
    """The time of a schedule that is nothing else; None for any other."""
    if draft.timezone is not UNSET:
        return None
    if draft.schedule is UNSET:
        return given(draft.schedule_time, None)
    return draft.schedule.get("at") if len(draft.schedule) == 1 else None
