"""Renders a stored job and a declared job with the field names of a manifest file.

core/manifest/differences.py compares the two. `build_edit` returns the edit that turns the stored
job into the declared one.
"""

import json
from typing import Any

from rota.contract.declared_schedule import resolve_declared_schedule
from rota.contract.graph import read_graph
from rota.contract.job import POLICY_FIELDS
from rota.contract.job_values import OWN_FIELDS, read_row_values, read_spec_values
from rota.contract.policy import read_stored_policy, write_policy
from rota.contract.schedule import read_stored_schedule, write_schedule
from rota.core.graphs import to_plain_graph
from rota.core.states import JobState
from rota.core.submissions import JobSpec
from rota.core.time.schedule import Schedule
from rota.engine.submission.job_changes import JobChanges
from rota.store.job_views import JobRow


def read_row_schedule(row: JobRow) -> Schedule | None:
    if row.schedule is None:
        return None
    return read_stored_schedule(json.loads(row.schedule), seed=str(row.id))


def render_row(row: JobRow, schedule: Schedule | None) -> dict[str, Any]:
    """Return every field of a stored job by its name in the file."""
    policy = read_stored_policy(json.loads(row.policy or "{}"))
    return {
        **_without_name(read_row_values(row)),
        **write_policy(policy),
        "schedule": write_schedule(
            schedule or resolve_declared_schedule(None, None, seed="", now=row.created_at)
        ),
        "paused": row.state is JobState.PAUSED,
    }


def render_spec(spec: JobSpec, schedule: Schedule, *, paused: bool) -> dict[str, Any]:
    """Return every field of a declared job by its name in the file."""
    return {
        **_without_name(read_spec_values(spec)),
        "graph": None if spec.graph is None else to_plain_graph(read_graph(spec.graph)),
        "schedule": write_schedule(schedule),
        "paused": paused,
    }


def _without_name(values: dict[str, Any]) -> dict[str, Any]:
    """Remove the name, which is the key in the file and does not change."""
    return {name: value for name, value in values.items() if name != "name"}


def build_edit(spec: JobSpec, fields: frozenset[str]) -> JobChanges:
    """Return an edit of the fields that differ, so that an equal schedule is not restarted."""
    changed = {name: getattr(spec, name) for name in OWN_FIELDS if name in fields}
    if fields & set(POLICY_FIELDS):
        changed["policy"] = spec.policy
    if fields & {"overlap", "keep_first"}:
        # A new overlap policy resets `keep_first`, so the edit sets both.
        changed["keep_first"] = spec.keep_first
    return JobChanges(**changed)
