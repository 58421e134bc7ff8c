"""Graphs written in Python: calls are steps, values are expressions (D1, D2, D3, D4, I3)."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

import rota
from rota.contract.graph import read_graph

app = rota.App("etl")


@app.job(queue="heavy", retries=5)
def extract(day: str) -> dict[str, Any]:
    return {"rows": [1, 2], "files": ["a"], "day": day}


@app.job()
def clean(rows: list[int]) -> list[int]:
    return rows[:1]


@app.job()
def load(rows: list[int], *, table: str = "t") -> int:
    return len(rows)


@app.job()
def one(file: str, n: int = 0) -> int:
    return n


@app.job()
async def notify(ctx: rota.Context, text: str = "") -> None:
    ctx.progress(1.0, text)


@app.job()
def ping() -> None: ...


def steps_of(graph: rota.Graph) -> dict[str, dict[str, Any]]:
    """The steps of a graph by name, without it."""
    steps = {step["name"]: dict(step) for step in graph.definition["steps"]}
    for step in steps.values():
        del step["name"]
    return steps


def graph(function: Callable[..., Any]) -> rota.Graph:
    return rota.Graph("g", function)


def test_functions_that_call_functions_are_steps_that_need_each_other() -> None:
    def nightly(day: str) -> None:
        found = extract(day)
        load(clean(found["rows"]), table="x")

    assert steps_of(graph(nightly)) == {
        "extract": {
            "kind": "etl.extract",
            "payload": {"day": {"$": "input.day"}},
            "queue": "heavy",
            "retries": 5,
        },
        "clean": {
            "kind": "etl.clean",
            "needs": ["extract"],
            "payload": {"rows": {"$": "steps.extract.result.rows"}},
        },
        "load": {
            "kind": "etl.load",
            "needs": ["clean"],
            "payload": {"rows": {"$": "steps.clean.result"}, "table": "x"},
        },
    }


def test_outside_a_graph_the_same_calls_just_run() -> None:
    @rota.App("a").graph()
    def nightly(day: str) -> int:
        return load(clean(extract(day)["rows"]))

    nightly.definition  # noqa: B018 — building it must not change what calls mean afterwards

    assert nightly("monday") == 1
    assert extract("x")["day"] == "x"


def test_arrows_say_what_waits_for_what() -> None:
    with rota.Graph("chain") as made:
        ping >> [one.step("a"), one.step("b")] >> notify >> load.step(made.input["rows"])

    steps = steps_of(made)
    assert {name: step.get("needs", []) for name, step in steps.items()} == {
        "ping": [],
        "one": ["ping"],
        "one_2": ["ping"],
        "notify": ["one", "one_2"],
        "load": ["notify"],
    }
    assert steps["load"]["payload"] == {"rows": {"$": "input.rows"}}


def test_a_job_that_is_only_named_is_one_step_however_often() -> None:
    with rota.Graph("twice") as made:
        ping >> notify
        ping >> [one.step("a"), one.step("b")]
        [one.step("c"), one.step("d")] >> notify

    assert steps_of(made)["notify"]["needs"] == ["ping", "one_3", "one_4"]
    assert len(made.definition["steps"]) == 6


def test_values_become_expressions() -> None:
    def all_of_it(a: int, b: str) -> None:
        found = extract.step(b)
        one(file=found["x-y"][0]["z"] + "/" + b, n=(2 * a - 1) % 7)
        load.step([found.count, 3]).when(
            (found.state == "succeeded") & ~(found["n"] > 3) | (a != None)  # noqa: E711
        )
        ping.step().when(found.error == 'a "b"\n\\')

    steps = steps_of(graph(all_of_it))

    assert steps["one"]["payload"] == {
        "file": {"$": '((steps.extract.result["x-y"][0].z + "/") + input.b)'},
        "n": {"$": "(((2 * input.a) - 1) % 7)"},
    }
    assert steps["load"]["payload"] == {"rows": [{"$": "steps.extract.result.count"}, 3]}
    assert steps["load"]["when"] == (
        '((steps.extract.state == "succeeded") and (not (steps.extract.result.n > 3)))'
        " or (input.a != null)"
    )
    assert steps["ping"]["when"] == r'steps.extract.error == "a \"b\"\n\\"'
    assert steps["load"]["needs"] == ["extract"]


def test_conditions_maps_and_options_are_said_on_the_step() -> None:
    def nightly() -> None:
        found = extract("today")
        each = one.step(rota.item, n=rota.index).map(over=found["files"], tolerate="5%", at_once=50)
        notify.step().after(each).when("failure").may_fail().options(
            name="alarm-bell",
            retries=1,
            timeout=timedelta(seconds=5),
            queue="fast",
            priority="high",
        )
        load.step(each.results).when("steps.one.result.failed < 3")

    steps = steps_of(graph(nightly))

    assert steps["one"] == {
        "kind": "etl.one",
        "needs": ["extract"],
        "payload": {"file": {"$": "item"}, "n": {"$": "index"}},
        "map": {"over": "steps.extract.result.files", "tolerate": "5%", "at_once": 50},
    }
    assert steps["alarm-bell"] == {
        "kind": "etl.notify",
        "needs": ["one"],
        "when": "failure",
        "may_fail": True,
        "retries": 1,
        "timeout": "PT5S",
        "queue": "fast",
        "priority": 1,
    }
    assert steps["load"]["payload"] == {"rows": {"$": "steps.one.results"}}


def test_a_map_goes_over_a_number_a_list_or_a_source() -> None:
    def maps(n: int) -> None:
        one.step("x").map(over=3).options(name="number")
        one.step("x").map(over=[1, n]).options(name="list")
        one.step(rota.item).map(source=extract.step("now")).options(name="source")

    steps = steps_of(graph(maps))

    assert [steps[name]["map"] for name in ("number", "list", "source")] == [
        {"over": 3},
        {"over": [1, {"$": "input.n"}]},
        {"source": {"kind": "etl.extract", "payload": {"day": "now"}}},
    ]
    assert set(steps) == {"number", "list", "source"}


def test_a_step_that_is_renamed_is_named_so_everywhere() -> None:
    def nightly() -> None:
        found = extract.step("x")
        load(found["rows"])
        found.options(name="get-it")

    steps = steps_of(graph(nightly))

    assert steps["load"]["payload"] == {"rows": {"$": 'steps["get-it"].result.rows'}}
    assert steps["load"]["needs"] == ["get-it"]


def test_options_of_the_job_and_the_app_hold_for_its_steps() -> None:
    strict = rota.App("strict", timeout="1m", labels={"a": "b"})

    @strict.job(retries=2)
    def work() -> None: ...

    def run() -> None:
        work()
        work.options(queue="slow").step()

    steps = steps_of(graph(run))

    assert steps["work"] == {"kind": "strict.work", "retries": 2, "timeout": "1m"}
    assert steps["work_2"]["queue"] == "slow"


def test_a_kind_that_needs_no_code_is_a_step_too() -> None:
    def nightly(day: str) -> None:
        found = extract.step(day)
        rota.step("shell", {"command": ["echo", found["x"]]}) >> rota.step("http", name="tell")

    steps = steps_of(graph(nightly))

    assert steps["shell"] == {
        "kind": "shell",
        "needs": ["extract"],
        "payload": {"command": ["echo", {"$": "steps.extract.result.x"}]},
    }
    assert steps["tell"] == {"kind": "http", "needs": ["shell"]}


def test_another_graph_is_one_step() -> None:
    def inner(day: str, table: str = "t") -> None:
        load(extract(day)["rows"], table=table)

    sub = rota.Graph("inner", inner)

    def outer(day: str) -> None:
        sub(day) >> ping.step()

    steps = steps_of(graph(outer))

    assert steps["inner"] == {
        "graph": sub.definition,
        "payload": {"day": {"$": "input.day"}, "table": "t"},
    }
    assert steps["ping"]["needs"] == ["inner"]


@dataclass
class Order:
    id: int
    total: Any


def test_values_may_lie_deep_in_arguments() -> None:
    other = rota.App("deep")

    @other.job()
    def charge(orders: list[Order], note: dict[str, Any]) -> None: ...

    def run(total: int) -> None:
        charge([Order(1, total)], {"a": {"b": [total]}})

    assert steps_of(graph(run))["charge"]["payload"] == {
        "orders": [{"id": 1, "total": {"$": "input.total"}}],
        "note": {"a": {"b": [{"$": "input.total"}]}},
    }


def if_of_it() -> None:
    if extract("x"):
        ping()


def loop_over_it() -> None:
    for each in extract("x"):
        one(each)


def length_of_it() -> None:
    len(extract("x"))


def slip_of_the_pen() -> None:
    extract.step("x").wehn("failure")


def wrong_type() -> None:
    clean("text")  # type: ignore[arg-type]


def wrong_type_within() -> None:
    clean([1, "x"])  # type: ignore[list-item]


def missing_argument() -> None:
    ping >> clean


def unknown_argument() -> None:
    ping(x=1)  # type: ignore[call-arg]


def around() -> None:
    first, second = one.step("a"), one.step("b")
    first >> second >> first


def unknown_option() -> None:
    ping.step().options(retires=3)  # type: ignore[call-arg]


def taken_name() -> None:
    ping()
    one.step("x").options(name="ping")


def unlike() -> None:
    ping >> 3  # type: ignore[operator]


def not_before() -> None:
    ping()
    one.step("x").when("steps.ping.state == 'failed'")


def nothing() -> None: ...


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (if_of_it, "use .when"),
        (loop_over_it, "use .map"),
        (length_of_it, "len(steps.name.result)"),
        (slip_of_the_pen, "when, map, options"),
        (wrong_type, "rows: 'text' is invalid: expected array"),
        (wrong_type_within, "rows[1]"),
        (missing_argument, "missing a required argument: 'rows'"),
        (unknown_argument, "unexpected keyword argument 'x'"),
        (around, "one → one_2 → one"),
        (unknown_option, "did you mean retries"),
        (taken_name, "another step has this name"),
        (unlike, "a step, a job, or a list"),
        (not_before, "add it to needs, directly or indirectly"),
        (nothing, "a list of 1 to 1000 steps"),
    ],
    ids=lambda given: getattr(given, "__name__", None),
)
def test_a_mistake_is_told_with_what_to_do(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(rota.InvalidInput) as refused:
        graph(function).definition  # noqa: B018 — it is built when it is asked for

    assert said in str(refused.value)


@pytest.mark.parametrize("name", ["Graph", "step"])
def test_every_name_may_be_the_first_to_be_used(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import rota; rota.{name}"], capture_output=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, b"")


def test_after_a_mistake_calls_run_again() -> None:
    with pytest.raises(rota.InvalidInput):
        graph(if_of_it).definition  # noqa: B018 — as above

    assert one("x", n=4) == 4


def test_arrows_outside_a_graph_are_refused() -> None:
    with pytest.raises(rota.InvalidInput, match="steps can be used only in"):
        ping >> notify


def test_a_graph_is_declared_and_submitted_like_a_job() -> None:
    own = rota.App("own", queue="q", jobs=[])

    @own.job(queue="heavy")
    def work(day: str) -> None: ...

    @own.graph(cron="0 2 * * *", timezone="Europe/Berlin", args={"day": "today"}, overlap="skip")
    def nightly(day: str, table: str = "t") -> None:
        work(day)

    (said,) = own.declarations()
    draft = nightly.draft("tomorrow")

    assert said == {
        "name": "own.nightly",
        "kind": "graph",
        "graph": nightly.definition,
        "schedule": {"cron": "0 2 * * *", "timezone": "Europe/Berlin"},
        "payload": {"day": "today", "table": "t"},
        "overlap": "skip",
        "queue": "q",
    }
    assert draft["payload"] == {"day": "tomorrow", "table": "t"}
    assert own.queues == ("heavy", "q")
    assert read_graph(said["graph"]).roots == (0,)
    with pytest.raises(rota.InvalidInput):
        nightly.draft(7)


def test_a_submission_of_a_graph_is_written_down_like_any() -> None:
    with rota.testing.recording(app) as submissions:
        own = rota.Graph("sent", lambda: ping(), app=app)  # noqa: PLW0108 — a call is a step
        own.submit()

    (sent,) = submissions
    assert sent.draft["graph"] == {"steps": [{"name": "ping", "kind": "etl.ping"}]}


def test_a_job_and_a_graph_of_one_name_are_refused() -> None:
    own = rota.App("own")

    @own.job(name="own.nightly", every="1h")
    def work() -> None: ...

    rota.Graph("nightly", lambda: work(), app=own, every="1h")  # noqa: PLW0108 — a call is a step

    with pytest.raises(rota.InvalidInput, match="a job and a graph of this app have the same name"):
        own.declarations()


def test_an_app_takes_in_the_graphs_of_a_module() -> None:
    module = ModuleType("flows")
    own = rota.Graph("own", lambda: ping())  # noqa: PLW0108 — a call is a step
    module.__dict__.update(own=own, other=rota.Graph("other", app=rota.App("other")))
    taking = rota.App("taking")

    taking.include(module)

    assert taking.graphs == (own,)


async def waits() -> None: ...


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: rota.Graph("g", kind="x"), "a graph has no kind"),
        (lambda: rota.Graph("g", isolation="process"), "a graph has no isolation"),
        (lambda: rota.Graph("g", crn="x"), "did you mean cron"),  # type: ignore[call-arg]
        (lambda: rota.Graph("").definition, "1 to 200"),
        (lambda: rota.Graph("g").definition, "with block"),
        (lambda: rota.Graph("g").submit(), "the graph belongs to no app"),
        (lambda: app.graph(ping), "parentheses"),  # type: ignore[arg-type]
        (lambda: app.graph()(ping), "a plain function"),
        (lambda: app.graph()(waits), "a plain function"),
    ],
    ids=range(9),
)
def test_a_wrong_declaration_is_refused(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(rota.InvalidInput) as refused:
        make()

    assert said in str(refused.value)
