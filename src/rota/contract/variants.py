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
from rota.core.submission import SpecVariant, after

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


def _own_time(draft: JobDraft) -> object:
    """The time of a schedule that is nothing else; None for any other."""
    if draft.timezone is not UNSET:
        return None
    if draft.schedule is UNSET:
        return given(draft.schedule_time, None)
    return draft.schedule.get("at") if len(draft.schedule) == 1 else None
