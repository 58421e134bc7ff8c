"""A job that is there and one that is declared, both as plain fields by the names of the file.

Room: flow/submit. What differs between the two is core/manifest/differences.py; the edit that makes
one the other is here.
"""

import json
from typing import Any

from rota.contract.declared_schedule import resolve_declared_schedule
from rota.contract.graph import read_graph
from rota.contract.job import POLICY_FIELDS
from rota.contract.job_values import OWN_FIELDS, row_values, spec_values
from rota.contract.policy import from_policy, read_stored_policy
from rota.contract.schedule import read_stored_schedule, write_schedule
from rota.core.graphs import graph_plain
from rota.core.states import JobState
from rota.core.submission import JobSpec
from rota.core.time.schedule import Schedule
from rota.flow.submit.changing import Edit
from rota.store.job_views import JobRow


def schedule_of(row: JobRow) -> Schedule | None:
    if row.schedule is None:
        return None
    return read_stored_schedule(json.loads(row.schedule), seed=str(row.id))


def plain_row(row: JobRow, schedule: Schedule | None) -> dict[str, Any]:
    """A job that is there, every field by its name in the file."""
    policy = read_stored_policy(json.loads(row.policy or "{}"))
    return {
        **_in_a_file(row_values(row)),
        **from_policy(policy),
        "schedule": write_schedule(
            schedule or resolve_declared_schedule(None, None, seed="", now=row.created_at)
        ),
        "paused": row.state is JobState.PAUSED,
    }


def plain_spec(spec: JobSpec, schedule: Schedule, *, paused: bool) -> dict[str, Any]:
    """The same of a job that is declared."""
    return {
        **_in_a_file(spec_values(spec)),
        "graph": None if spec.graph is None else graph_plain(read_graph(spec.graph)),
        "schedule": write_schedule(schedule),
        "paused": paused,
    }


def _in_a_file(values: dict[str, Any]) -> dict[str, Any]:
    """Without the name, which is the key in the file and does not change."""
    return {name: value for name, value in values.items() if name != "name"}


def edit_of(spec: JobSpec, fields: frozenset[str]) -> Edit:
    """Only what is different: a schedule that stays is not begun anew."""
    changed = {name: getattr(spec, name) for name in OWN_FIELDS if name in fields}
    if fields & set(POLICY_FIELDS):
        changed["policy"] = spec.policy
    if fields & {"overlap", "keep_first"}:
        # A new overlap policy forgets it, so it is said again with one.
        changed["keep_first"] = spec.keep_first
    return Edit(**changed)
