"""Graph runs on a real store: steps begin, skip, fail and end as the definition says (D1 to D4)."""

import json
from datetime import timedelta

import pytest
from tests.support.graphing import Graphing, diamond, steps

from rota.core.states import RunState

S = RunState


async def test_a_graph_run_unfolds_and_its_first_step_begins(graphing: Graphing) -> None:
    run_id = await graphing.run(diamond())

    assert (await graphing.world.get(run_id)).state is S.BLOCKED
    assert await graphing.board(run_id) == "lwww"
    assert list(await graphing.live(run_id)) == ["a"]
    assert await graphing.marks() == 0


async def test_steps_follow_each_other_and_the_graph_run_ends(graphing: Graphing) -> None:
    run_id = await graphing.run(diamond())

    await graphing.end_and_advance(run_id, "a")
    assert list(await graphing.live(run_id)) == ["b", "c"]
    await graphing.end_and_advance(run_id, "b")
    assert list(await graphing.live(run_id)) == ["c"]
    await graphing.end_and_advance(run_id, "c")
    assert list(await graphing.live(run_id)) == ["d"]
    await graphing.end_and_advance(run_id, "d", result={"rows": 3})

    told = await graphing.world.get(run_id)
    assert told.state is S.SUCCEEDED
    assert json.loads(told.result or "") == {"d": {"rows": 3}}
    assert await graphing.board(run_id) == "ssss"
    assert await graphing.world.count("live_runs") == 0
    assert await graphing.marks() == 0


async def test_a_failed_step_skips_what_needs_it_and_the_graph_run_is_dead(
    graphing: Graphing,
) -> None:
    run_id = await graphing.run(steps("a", "b: a", "c: b", "alarm: a", alarm={"when": "failure"}))

    await graphing.end_and_advance(run_id, "a", state="dead", reason={"type": "Boom"})
    assert await graphing.shown(run_id) == {
        "a": "failed",
        "b": "skipped",
        "c": "skipped",
        "alarm": "live",
    }
    await graphing.end_and_advance(run_id, "alarm")

    told = await graphing.world.get(run_id)
    assert told.state is S.DEAD
    assert json.loads(told.reason or "")["message"] == "step a failed"
    assert await graphing.told(run_id) == {"b": "upstream_failed", "c": "upstream_skipped"}


async def test_results_and_the_input_fill_payloads_and_decide_conditions(
    graphing: Graphing,
) -> None:
    run_id = await graphing.run(
        steps(
            "a",
            "many: a",
            "few: a",
            a={"payload": {"day": {"$": "input.day"}, "id": {"$": "graph.run_id"}}},
            many={"when": "steps.a.result.rows > 10", "payload": {"n": {"$": "steps.a.result"}}},
            few={"when": "steps.a.result.rows <= 10"},
        ),
        payload={"day": "2026-07-01"},
    )
    given = await graphing.payload(run_id, "a")

    await graphing.end_and_advance(run_id, "a", result={"rows": 12})

    assert given == {"day": "2026-07-01", "id": str(run_id)}
    assert await graphing.shown(run_id) == {"a": "succeeded", "many": "live", "few": "skipped"}
    assert await graphing.payload(run_id, "many") == {"n": {"rows": 12}}
    assert await graphing.told(run_id) == {"few": "condition"}


async def test_a_condition_that_cannot_be_evaluated_fails_its_step_and_nothing_is_stuck(
    graphing: Graphing,
) -> None:
    run_id = await graphing.run(
        steps("a", "b: a", b={"when": "steps.a.result.rows + 'x' > 1"}),
    )

    await graphing.end_and_advance(run_id, "a", result={"rows": 12})

    assert await graphing.shown(run_id) == {"a": "succeeded", "b": "failed"}
    assert "failed at character" in (await graphing.told(run_id))["b"]
    assert (await graphing.world.get(run_id)).state is S.DEAD


async def test_a_step_has_its_own_policy_queue_and_priority_and_the_graph_runs_time(
    graphing: Graphing,
) -> None:
    run_id = await graphing.run(
        steps("a", a={"queue": "heavy", "priority": 1, "retries": 7, "timeout": "10m"})
    )

    row = await graphing.conn.fetchrow(
        """
        select q.name, l.priority, p.body, l.trigger, g.scheduled_at = l.scheduled_at
        from rota.live_runs as l
        inner join rota.queues as q on q.id = l.queue_id
        inner join rota.policies as p on p.id = l.policy_id
        inner join rota.live_runs as g on g.id = l.graph_run_id
        where l.graph_run_id = $1
        """,
        run_id,
    )

    assert row is not None
    policy = json.loads(row[2])
    assert (row[0], row[1], row[3], row[4]) == ("heavy", 1, "graph", True)
    assert (policy["retries"]["max"], policy["timeout"]) == (7, "PT10M")


async def test_a_step_without_a_payload_does_not_get_the_jobs(graphing: Graphing) -> None:
    run_id = await graphing.run(steps("a"), payload={"secret": 1})

    assert await graphing.payload(run_id, "a") is None


async def test_a_sub_graph_runs_as_a_graph_run_of_its_own(graphing: Graphing) -> None:
    inner = steps("x", "y: x", x={"payload": {"n": {"$": "input.n"}}})
    run_id = await graphing.run(
        steps(
            "a",
            "sub: a",
            "b: sub",
            sub={
                "kind": "graph",
                "graph": {"steps": inner},
                "payload": {"n": {"$": "steps.a.result"}},
            },
            b={"payload": {"$": "steps.sub.result"}},
        )
    )
    await graphing.end_and_advance(run_id, "a", result=5)
    sub_id = await graphing.step_id(run_id, "sub")
    graphing.definitions[sub_id] = graphing.definitions[run_id].steps[1].graph  # type: ignore[assignment]
    assert await graphing.payload(sub_id, "x") == {"n": 5}

    await graphing.end_and_advance(sub_id, "x")
    await graphing.end_and_advance(sub_id, "y", result="done")

    assert (await graphing.world.get(sub_id)).state is S.SUCCEEDED
    assert await graphing.shown(run_id) == {"a": "succeeded", "sub": "succeeded", "b": "live"}
    assert await graphing.payload(run_id, "b") == {"y": "done"}


async def test_a_graph_run_keeps_its_definition_when_its_job_changes(graphing: Graphing) -> None:
    run_id = await graphing.run(diamond())
    await graphing.conn.execute("update rota.jobs set graph_id = null")

    for name in ("a", "b", "c", "d"):
        await graphing.end_and_advance(run_id, name)

    assert (await graphing.world.get(run_id)).state is S.SUCCEEDED


async def test_a_graph_run_whose_job_has_no_graph_any_more_ends_and_says_so(
    graphing: Graphing,
) -> None:
    run_id = await graphing.waiting(diamond())
    await graphing.conn.execute("update rota.jobs set graph_id = null")

    await graphing.unfold()
    await graphing.advance()

    told = await graphing.world.get(run_id)
    assert told.state is S.DEAD
    assert "no longer had a graph" in json.loads(told.reason or "")["message"]
    assert await graphing.marks() == 0


@pytest.mark.parametrize("state", ["lost", "quarantined", "expired"])
async def test_every_bad_ending_of_a_step_is_a_failure(graphing: Graphing, state: str) -> None:
    run_id = await graphing.run(steps("a", "b: a"))

    await graphing.end_and_advance(run_id, "a", state=state)

    assert await graphing.shown(run_id) == {"a": "failed", "b": "skipped"}
    assert (await graphing.world.get(run_id)).state is S.DEAD


async def test_a_failure_that_may_be_does_not_fail_the_graph_run(graphing: Graphing) -> None:
    run_id = await graphing.run(steps("a", "b: a", a={"may_fail": True}, b={"when": "always"}))

    await graphing.end_and_advance(run_id, "a", state="dead")
    await graphing.end_and_advance(run_id, "b")

    assert (await graphing.world.get(run_id)).state is S.SUCCEEDED


async def test_a_steps_own_deadline_counts_from_its_beginning(graphing: Graphing) -> None:
    run_id = await graphing.run(steps("a", "b: a", b={"deadline": "10m"}))
    await graphing.world.advance(minutes=3)
    await graphing.end_and_advance(run_id, "a")

    left = await graphing.conn.fetchval(
        "select deadline_at - rota.now() from rota.live_runs where graph_run_id = $1", run_id
    )

    assert left == timedelta(minutes=10)


async def test_a_sub_graph_gives_its_queue_and_priority_to_its_steps(graphing: Graphing) -> None:
    sub = {"kind": "graph", "graph": {"steps": steps("x")}, "queue": "heavy", "priority": 2}
    await graphing.run(steps("sub", sub=sub))

    row = await graphing.conn.fetchrow(
        """
        select q.name, l.priority from rota.live_runs as l
        inner join rota.queues as q on q.id = l.queue_id
        where l.state = 'queued'
        """
    )

    assert row is not None
    assert tuple(row) == ("heavy", 2)
