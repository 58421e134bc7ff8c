"""Graphs played without a database: what people's own tests of graphs rely on (I3, D2)."""

from collections.abc import Iterator
from typing import Any

import pytest

import rota
from rota.testing import run_graph, run_graph_async

app = rota.App("etl")
attempts: list[str] = []


@app.job()
def extract(day: str) -> dict[str, Any]:
    if day == "sunday":
        raise rota.Fail("nothing on sundays")
    return {"rows": [1, 2, 3], "files": ["a", "bad", "c"]}


@app.job()
def clean(rows: list[int]) -> list[int]:
    return rows[1:]


@app.job()
def one(file: str, n: int) -> str:
    if file == "bad":
        raise rota.Fail("a bad file")
    return f"{n}:{file}"


@app.job(retries={"max": 2, "base": "1s", "jitter": "none"})
def flaky(name: str) -> int:
    attempts.append(name)
    if len(attempts) < 3:
        raise OSError("not yet")
    return len(attempts)


@app.job()
def names(count: int) -> Iterator[str]:
    yield from (f"f{n}" for n in range(count))


@app.job()
def alarm() -> str:
    return "rang"


@app.graph()
def nightly(day: str) -> None:
    found = extract(day)
    rows = clean(found["rows"])
    each = one.step(rota.item, n=rota.index).map(over=found["files"], tolerate=1)
    each.options(retries=0)
    alarm.step().after(found).when("failure").options(name="cry")
    alarm.step().after(rows, each).when(each["failed"] < 2).options(name="last")


def test_a_graph_is_played_from_its_first_step_to_its_last() -> None:
    played = run_graph(nightly, "monday")

    assert played.succeeded
    assert played.order == ("extract", "clean", "one", "last")
    assert played["clean"].result == [2, 3]
    assert played["one"].result == {"total": 3, "succeeded": 2, "failed": 1}
    assert played["one"].results == ["0:a", None, "2:c"]
    assert played["cry"].state == "skipped"
    assert played.result == {"last": "rang"}


def test_what_fails_decides_what_is_skipped() -> None:
    played = run_graph(nightly, day="sunday")

    assert (played.state, played.error) == ("dead", "step extract failed")
    assert {name: step.state for name, step in played.steps.items()} == {
        "extract": "failed",
        "clean": "skipped",
        "one": "skipped",
        "cry": "succeeded",
        "last": "skipped",
    }
    assert played["extract"].reason == "Fail: nothing on sundays"
    assert played["clean"].reason == "upstream_failed"


async def test_a_step_is_retried_and_its_attempts_are_told() -> None:
    attempts.clear()

    played = await run_graph_async(rota.Graph("retrying", lambda: flaky("x"), app=rota.App("r")))

    assert played["flaky"].result == 3
    assert len(played["flaky"].runs[0].attempts) == 3


def test_sub_graphs_sources_and_stand_ins_are_played() -> None:
    own = rota.App("own")

    @own.graph()
    def inner(count: int) -> None:
        one.step(rota.item, n=rota.index).map(source=names.step(count))

    @own.graph()
    def outer() -> None:
        inner(2)
        alarm()

    played = run_graph(
        outer,
        stand_ins={
            "etl.alarm": lambda _: "quiet",
            "etl.one": lambda payload: payload["file"],
            "etl.names": lambda payload: ["x"] * payload["count"],
        },
    )

    assert played["inner"].result == {"one": {"total": 2, "succeeded": 2, "failed": 0}}
    assert played["alarm"].result == "quiet"


def test_a_kind_that_nobody_serves_is_told() -> None:
    with pytest.raises(rota.InvalidInput, match="stand_ins"):
        run_graph(rota.Graph("lonely", lambda: rota.step("shell"), app=rota.App("lonely")))


def test_a_stand_in_that_raises_fails_its_step() -> None:
    def broken(_: object) -> None:
        raise ValueError("broken")

    played = run_graph(
        rota.Graph("raising", lambda: rota.step("x", name="alarm"), app=rota.App("raising")),
        stand_ins={"x": broken},
    )

    assert played["alarm"].reason == "ValueError: broken"
    assert played.state == "dead"
