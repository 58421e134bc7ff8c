"""A job that is there and one that is declared, both as plain fields by the names of the file.

Room: flow/submit. What differs between the two is core/manifest/differences.py.
"""

import json
from typing import Any

from rota.core import policy as policies
from rota.core.graphs import graph_plain, read_graph
from rota.core.limits import limit_to_plain
from rota.core.manifest.timetable import settled
from rota.core.states import JobState
from rota.core.submission import JobSpec
from rota.core.time import plain
from rota.core.time.schedule import Schedule
from rota.store.job_views import JobRow


def schedule_of(row: JobRow) -> Schedule | None:
    if row.schedule is None:
        return None
    return plain.read_stored(json.loads(row.schedule), seed=str(row.id))


def plain_row(row: JobRow, schedule: Schedule | None) -> dict[str, Any]:
    """A job that is there, every field by its name in the file."""
    policy = policies.read_stored(json.loads(row.policy or "{}"))
    return {
        "kind": row.kind,
        "graph": json.loads(row.graph or "null"),
        "queue": row.queue,
        "schedule": plain.to_plain(schedule or settled(None, None, seed="", now=row.created_at)),
        "payload": json.loads(row.payload or "null"),
        **policies.to_plain(policy),
        "priority": row.priority,
        "overlap": row.overlap.value,
        "keep_first": row.keep_first,
        "when_queue_paused": row.when_queue_paused.value,
        "limits": json.loads(row.limits or "[]"),
        "labels": json.loads(row.labels),
        "user_id": row.user_id,
        "paused": row.state is JobState.PAUSED,
    }


def plain_spec(spec: JobSpec, schedule: Schedule, *, paused: bool) -> dict[str, Any]:
    """The same of a job that is declared."""
    return {
        "kind": spec.kind,
        "graph": None if spec.graph is None else graph_plain(read_graph(spec.graph)),
        "queue": spec.queue,
        "schedule": plain.to_plain(schedule),
        "payload": spec.payload,
        **policies.to_plain(spec.policy),
        "priority": spec.priority,
        "overlap": spec.overlap.value,
        "keep_first": spec.keep_first,
        "when_queue_paused": spec.when_queue_paused.value,
        "limits": [limit_to_plain(limit) for limit in spec.limits],
        "labels": dict(spec.labels),
        "user_id": spec.user_id,
        "paused": paused,
    }
