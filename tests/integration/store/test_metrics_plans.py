"""What observers ask does not read the tables: it walks indexes, to a bound (O5, E18, P6)."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.integration.store.test_plans import NOW, fill, nodes

from rota.core import duration_bins
from rota.core.lanes import AGE_STEP
from rota.store import metrics_queries, partitions, tasks, wait_explanations
from rota.store.driver import Connection
from rota.store.metrics_queries import smallest_id_at
from rota.store.statement import Statement

LARGE = {"live_runs", "cursors", "jobs"}
HOUR = timedelta(hours=1)
RUN_ID = UUID(int=0)
PLACE = {
    "queue_id": 1,
    "priority": 5,
    "ready_at": NOW + HOUR,
    "run_id": RUN_ID,
    "age_step": AGE_STEP,
    "kind_ids": [1],
    "most": 1001,
}
FROM = {"tenant_id": 1, "from_id": smallest_id_at(NOW - HOUR), "since": NOW}
SOME = {"to_id": smallest_id_at(NOW + 99 * HOUR), "until": NOW + 99 * HOUR, "most": 500}
SLICES = {
    "starts": [NOW],
    "until": NOW + 99 * HOUR,
    "late_lows": [NOW + timedelta(seconds=601 * n) for n in range(360)],
    "late_highs": [NOW + timedelta(seconds=601 * n + 1) for n in range(360)],
    "lows": [smallest_id_at(NOW + timedelta(seconds=601 * n)) for n in range(360)],
    "highs": [smallest_id_at(NOW + timedelta(seconds=601 * n + 1)) for n in range(360)],
    "shortest": duration_bins.BIN_DURATION_MIN.total_seconds(),
    "bins_per_e": duration_bins.BINS_PER_E,
}
SAMPLED = {"tenant_id": 1, "lows": SLICES["lows"], "highs": SLICES["highs"]}
ENDED = {"from_id": smallest_id_at(NOW - HOUR), "since": NOW, "most": 500}
GATES = {
    "ids": [1],
    "queue_id": 1,
    "queue_gate": 1,
    "tenant_id": 1,
    "tenant_gate": None,
    "tenant_queue_gate": None,
}

# The arguments, and how many rows of the large tables may be read at most.
ASKED: dict[str, tuple[Statement[Any], dict[str, Any], int]] = {
    "run": (wait_explanations.READ_RUN, {"tenant_id": 1, "run_id": RUN_ID}, 2),
    "gates": (wait_explanations.READ_GATES, GATES, 2000),
    "workers": (
        wait_explanations.READ_WORKERS,
        {"queue_id": 1, "kind_id": 1, "tenant": "default"},
        2000,
    ),
    "ahead": (wait_explanations.COUNT_AHEAD, {"tenant_id": 1, **PLACE}, 1001),
    "ahead at a gate": (wait_explanations.COUNT_AHEAD_GATED, {"gate_id": 1, **PLACE}, 1001),
    "some": (metrics_queries.COUNT_SOME, FROM | SOME, 1000),
    "slices": (metrics_queries.COUNT_SLICES, {"tenant_id": 1, **SLICES}, 2000),
    "times": (metrics_queries.MEASURE_TIMES, FROM | {"most": 500}, 1010),
    "pace": (metrics_queries.MEASURE_PACE, FROM | {"most": 500}, 1010),
    "depths": (metrics_queries.READ_DEPTHS, {"tenant_id": 1, "most": 100, "most_queues": 9}, 110),
    "queues": (metrics_queries.READ_QUEUES, {"most": 100}, 100),
    "late": (metrics_queries.COUNT_LATE, {"tenant_id": 1, "before": NOW + HOUR, "most": 5}, 640),
    "cluster": (metrics_queries.READ_CLUSTER, {}, 4200),
    "ended": (metrics_queries.COUNT_ENDED, ENDED, 1510),
    "slices of a task": (tasks.COUNT_SLICES, {"tenant_id": 1, "kind_id": 1, **SLICES}, 2000),
    "sampled": (tasks.COUNT_SAMPLED, SAMPLED, 2000),
    "jobs of tasks": (tasks.COUNT_JOBS, {"tenant_id": 1, "most": 100}, 100),
    "bad": (metrics_queries.COUNT_BAD, {"from_id": smallest_id_at(NOW), "most": 1000}, 1000),
}


@pytest.fixture
async def filled(conn: Connection) -> Connection:
    """Besides what waits and runs, 60,000 finished runs of three days, one in 500 of them dead, and
    one in 10 ended two hours after its time.
    """
    await partitions.create_ahead(conn, today=NOW.date(), ahead=3)
    await fill(conn)
    await conn.execute(
        """
        insert into rota.runs (
            id, job_id, scheduled_at, due_at, created_at, started_at, finished_at, tenant_id,
            queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority
        )
        select
            (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
            || '7000800000000000' || lpad(to_hex(n), 4, '0'))::uuid,
            gen_random_uuid(), at, at, at, at,
            case when n % 10 = 0 then at + interval '2 h' else at end, n % 2 + 1, 1, 1, 1, 1,
            case when n % 500 = 0 then 'dead' else 'succeeded' end::rota.run_state, 'running',
            'tick', 5
        from generate_series(1, 60000) as n,
            lateral (select $1::timestamptz + n * interval '4 s' as at) as due
        """,
        NOW,
    )
    await conn.execute(
        "insert into rota.sessions (id, role, name, queues, kinds, slots, expires_at)"
        " values (gen_random_uuid(), 'worker', 'w', '{1}', '{1}', 10, 'infinity')"
    )
    await conn.execute("insert into rota.gates (tenant_id, key, most) values (0, 'queue:1', 5)")
    await conn.execute("analyze")
    return conn


async def test_what_observers_ask_reads_no_more_than_its_bound(filled: Connection) -> None:
    for name, (statement, arguments, most) in ASKED.items():
        rows = await filled.fetch(
            f"explain (analyze, verbose, format json) {statement.text}",
            *statement._bind(arguments),
        )
        plan = list(nodes(json.loads(rows[0][0])[0]["Plan"]))

        scans = [node for node in plan if is_large(node) and node["Actual Loops"]]
        read = sum(rows_of(node) for node in scans)
        assert read <= most, f"{name} reads {read}: {[node['Node Type'] for node in scans]}"


def is_large(node: dict[str, Any]) -> bool:
    """A scan of a large table or of one of its days. A bitmap's index is told by its heap."""
    table = str(node.get("Relation Name", ""))
    return table.startswith("runs") or table in LARGE


def rows_of(node: dict[str, Any]) -> float:
    filtered = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return float((node["Actual Rows"] + filtered) * node["Actual Loops"])
