"""Gates as rows: made once, changed in place, found by index however many wait (E7, P1)."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from tests.integration.store.test_plans import explain, fill, forbidden, nodes
from tests.support.world import World

from rota.core.errors import InvalidInput, NotFound
from rota.core.limits import NO_LIMITS, GateLimits, RateLimit
from rota.store import gates, live_runs
from rota.store.driver import Connection
from rota.store.gates import GateEntry, NewGate
from rota.store.pool import DatabaseAccess, open_connection
from rota.store.statement import Statement

RATE = RateLimit(count=10, per=timedelta(minutes=1), burst=2)
HOT_STATEMENTS: dict[str, tuple[Statement[Any], set[str]]] = {
    "survey": (gates.SURVEY, {"live_runs_gated", "live_runs_held", "live_runs_unfolded"}),
    "candidates": (gates.READ_CANDIDATES, {"live_runs_gated", "live_runs_in_order"}),
    "count held": (gates.COUNT_HELD, {"live_runs_held", "live_runs_unfolded"}),
    "heads": (gates.READ_HEADS, {"live_runs_in_order"}),
    "claim": (gates.CLAIM, {"live_runs_pkey"}),
}


async def test_the_same_key_is_the_same_gate_and_takes_the_new_limits(world: World) -> None:
    made = await gates.put_gate(world.conn, 1, "key:k", GateLimits(max_running=3))

    changed = await gates.put_gate(world.conn, 1, "key:k", GateLimits(max_running=5, rate=RATE))
    foreign = await gates.put_gate(world.conn, 2, "key:k", GateLimits(max_running=3))
    entered = await gates.enter_gates(world.conn, GateEntry(gates=frozenset({made})))

    assert made == changed != foreign
    assert entered.standings[made].limits == GateLimits(max_running=5, rate=RATE)
    assert entered.now == world.now


async def test_a_gate_that_says_the_same_is_not_written_again(world: World) -> None:
    """Submitting the same job all day must not lock or bloat the gates of its keys."""
    wanted = [NewGate(1, f"key:{n}", GateLimits(max_running=n + 1)) for n in range(5)]
    first = await gates.put_gates(world.conn, wanted)
    before = await world.conn.fetch("select id, xmin::text from rota.gates order by id")

    again = await gates.put_gates(world.conn, wanted)

    assert again == first
    assert await world.conn.fetch("select id, xmin::text from rota.gates order by id") == before


async def test_whoever_makes_the_same_gates_at_once_gets_the_same_ids(
    world: World, database: str
) -> None:
    """F39: in any order, without a deadlock."""
    conns = [await asyncpg.connect(database) for _ in range(4)]
    wanted = [NewGate(1, f"key:{n}", GateLimits(max_running=2)) for n in range(50)]

    made = await asyncio.gather(
        *(
            gates.put_gates(conn, wanted if place % 2 else reversed(wanted))
            for place, conn in enumerate(conns)
        )
    )

    assert made[0] == made[1] == made[2] == made[3]
    assert await world.count("gates") == 50
    for conn in conns:
        await conn.close()


async def test_a_gate_cannot_begin_to_keep_an_order(world: World) -> None:
    """Runs that wait have it at another place of their gates."""
    await gates.put_gate(world.conn, 1, "key:k", GateLimits(max_running=3))

    with pytest.raises(InvalidInput) as refused:
        await gates.put_gate(world.conn, 1, "key:k", GateLimits(in_order=True))

    assert refused.value.field == "limits.in_order"


async def test_a_lifted_gate_lets_everybody_through(world: World) -> None:
    gate = await gates.put_gate(world.conn, 1, "key:k", GateLimits(max_running=1))

    await gates.put_gate(world.conn, 1, "key:k", NO_LIMITS)

    entered = await gates.enter_gates(world.conn, GateEntry(gates=frozenset({gate})))
    assert entered.standings[gate].count_free(wanted=99, now=world.now) == 99


async def test_limits_of_what_does_not_exist_are_refused(world: World) -> None:
    with pytest.raises(NotFound):
        await gates.limit_queue(world.conn, 999, GateLimits(max_running=1))
    with pytest.raises(NotFound):
        await gates.limit_tenant(world.conn, 999, GateLimits(max_running=1))
    with pytest.raises(NotFound):
        await gates.pause_queue(world.conn, 999)
    with pytest.raises(NotFound):
        await gates.pause_tenant(world.conn, 999)

    assert await world.count("gates") == 0


@pytest.fixture(params=["empty", "filled and never analysed", "large and fresh"])
async def hot(request: pytest.FixtureRequest, database: str) -> AsyncIterator[Connection]:
    access = DatabaseAccess(url=database, statement_timeout=timedelta(minutes=1))
    async with open_connection(access) as conn:
        await conn.execute("alter table rota.live_runs set (autovacuum_enabled = off)")
        if request.param != "empty":
            await fill(conn)
            await conn.execute(
                "insert into rota.gates (tenant_id, key, most)"
                " select 1, 'key:' || n, 1 from generate_series(1, 500) as n"
            )
            await conn.execute(
                "update rota.live_runs set gates = array[1 + abs(hashtext(id::text)) % 500]"
                " where tenant_id < 10"
            )
        if request.param == "large and fresh":
            await conn.execute("analyze")
    async with open_connection(access, hot=True) as conn:
        yield conn


async def test_every_statement_of_a_gated_claim_walks_its_indexes(hot: Connection) -> None:
    for name, (statement, indexes) in HOT_STATEMENTS.items():
        plan = await explain(hot, statement)

        # Exactly these: another index that fits would be read and sorted.
        named = [node["Index Name"] for node in plan if "Index Name" in node]
        used = {index for index in named if index.startswith("live_runs")}
        assert indexes == used, f"{name} uses {used}"
        assert not list(forbidden(plan)), f"{name}: {list(forbidden(plan))}"


async def test_ten_thousand_behind_a_shut_gate_are_not_read(world: World) -> None:
    """Neither by the plain claim nor by the look for gated runs."""
    shut = await gates.put_gate(world.conn, 1, "key:k", GateLimits(max_running=1))
    await live_runs.insert_runs(world.conn, [world.new_run(gates=(shut,)) for _ in range(10_000)])
    plain = await world.runs(5)
    session = await world.session()

    claimed = await world.claim(session)
    walked = await rows_read(
        world,
        gates.SURVEY,
        queue_id=1,
        after_gate=0,
        after_priority=0,
        tenant_ids=None,
        most=256,
    )

    assert {run.id for run in claimed} == set(plain)
    assert walked["live_runs_gated"] == 1


async def rows_read(world: World, statement: Statement[Any], **values: object) -> dict[str, int]:
    """Rows that each index yielded."""
    for setting in ("enable_seqscan", "enable_hashjoin", "enable_mergejoin"):
        await world.conn.execute(f"set {setting} = off")
    rows = await world.conn.fetch(
        f"explain (analyze, format json) {statement.text}", *statement._bind(values)
    )
    found: dict[str, int] = {}
    for node in nodes(json.loads(rows[0][0])[0]["Plan"]):
        if "Index Name" in node:
            read = node["Actual Rows"] * node["Actual Loops"]
            found[node["Index Name"]] = found.get(node["Index Name"], 0) + round(read)
    return found
