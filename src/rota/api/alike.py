"""Finds drafts of jobs that differ in name, time and payload only. Room: api.

Such are most of a thousand jobs that come in one request; flow/submit/alike.py has a short way.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from msgspec import UNSET

from rota.api.drafts import given, kind_of, spec_of
from rota.api.shapes.jobs import JobDraft
from rota.core.aliases import CUSTOM
from rota.flow.submit.alike import Alike

# What is compared in another way: what is each one's own, and JSON, in which true is not 1.
OTHERWISE: Final = frozenset({"name", "schedule_time", "payload", "schedule"})
# What is the same of all, or they are not alike.
_shared: Final = attrgetter(*(name for name in JobDraft.__struct_fields__ if name not in OTHERWISE))


def alike(drafts: Sequence[JobDraft], *, tenant: str) -> Alike | None:
    """What all of them are, and what is each one's own; None if they are of several sorts."""
    first = drafts[0]
    if len(drafts) == 1 or first.job_type == CUSTOM or kind_of(first) is UNSET:
        return None
    shared, schedule = _shared(first), str(first.schedule)
    has_time = first.schedule_time is not UNSET
    for draft in drafts:
        if (
            draft.name is UNSET
            or (draft.schedule_time is not UNSET) is not has_time
            or _shared(draft) != shared
            or str(draft.schedule) != schedule
        ):
            return None
    return Alike(
        spec_of(first, tenant=tenant, suffix=str),
        [str(draft.name) for draft in drafts],
        [given(draft.payload, None) for draft in drafts],
        [draft.schedule_time for draft in drafts] if has_time else None,
    )
