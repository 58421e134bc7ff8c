"""`rota graph`: draw, watch, check, retry, pause, on a real installation (I4, D2, D6)."""

import json
from pathlib import Path
from uuid import uuid4

import pytest
from tests.support.installation import Installation, ran, until

from rota.contract.graph import read_graph


@pytest.fixture
def name() -> str:
    return f"graph {uuid4().hex[:8]}"


def made(installation: Installation, folder: Path, name: str, steps: object) -> str:
    """A graph that runs at once; the id of its run."""
    file = folder / "graph.json"
    file.write_text(json.dumps({"steps": steps}))
    said = installation.rota("jobs", "create", name, "--graph", str(file), "--json")
    assert said.code == 0, said.err
    return str(said.json["run_id"])


def greeting(name: str, *needs: str, **fields: object) -> dict[str, object]:
    payload = {"name": name}
    return {"name": name, "kind": "kit.greet", "needs": needs, "payload": payload, **fields}


def test_a_graph_is_drawn_before_and_after_it_ran(
    installation: Installation, tmp_path: Path, name: str
) -> None:
    steps = [
        greeting("first"),
        {"name": "bad", "kind": "kit.fail", "needs": ["first"], "may_fail": True},
        greeting("left", "bad"),
        greeting("alarm", "bad", when="failure"),
    ]
    run_id = made(installation, tmp_path, name, steps)
    watched = installation.rota("graph", "show", run_id, "--watch")

    job = installation.rota("graph", "show", name)
    run = installation.rota("graph", "show", run_id)
    plain = installation.rota("graph", "show", run_id, "--json").json
    drawn = [
        installation.rota("graph", "show", run_id, "--format", form) for form in ("mermaid", "dot")
    ]

    assert job.lines == [
        "first        kit.greet",
        "└─ bad       kit.fail",
        "   ├─ left   kit.greet",
        "   └─ alarm  kit.greet  on failure",
    ]
    assert watched.code == 0
    assert f"{run_id}  succeeded  4 of 4 steps done, 1 failed, 1 skipped" in run.out
    assert run.lines[1].startswith("✓ first")
    assert run.lines[1].endswith("★")
    assert "✗ bad" in run.lines[2]
    assert "customer 4711 does not exist" in run.lines[2]
    assert "– left" in run.lines[3]
    assert "upstream_failed" in run.lines[3]
    assert "✓ alarm" in run.lines[4]
    assert read_graph(plain["graph"]).roots == (0,)
    assert drawn[0].lines[0] == "flowchart TD"
    assert drawn[1].lines[0] == "digraph steps {"


def test_a_graph_that_failed_goes_on_from_there(
    installation: Installation, tmp_path: Path, name: str
) -> None:
    run_id = made(
        installation, tmp_path, name, [greeting("good"), {"name": "bad", "kind": "kit.fail"}]
    )
    watched = installation.rota("graph", "show", run_id, "--watch")
    before = installation.rota("graph", "show", run_id, "--json").json

    again = installation.rota("graph", "retry", run_id)
    installation.rota("graph", "show", run_id, "--watch")
    after = installation.rota("graph", "show", run_id, "--json").json

    assert watched.code == 1
    assert again.out == f"Retrying {run_id} from its failed steps\n"
    assert after["round"] == before["round"] + 1
    runs = [[step["run_id"] for step in shown["steps"]] for shown in (before, after)]
    assert runs[0][0] == runs[1][0]
    assert runs[0][1] != runs[1][1]


def test_a_paused_graph_starts_nothing_until_it_is_resumed(
    installation: Installation, tmp_path: Path, name: str
) -> None:
    gate = tmp_path / "gate"
    steps = [
        {"name": "gated", "kind": "kit.steps", "payload": {"gate": str(gate)}},
        greeting("then", "gated"),
    ]
    run_id = made(installation, tmp_path, name, steps)

    def states() -> list[str]:
        shown = installation.rota("graph", "show", run_id, "--json").json
        return [step["status"] for step in shown["steps"]]

    until(lambda: states() == ["live", "waiting"], "the first step is live")
    paused = installation.rota("graph", "pause", run_id)
    drawn = installation.rota("graph", "show", run_id)
    gate.touch()
    until(lambda: ended(installation, run_id, 0), "the first step has ended")
    held = states()[1]
    resumed = installation.rota("graph", "resume", run_id)
    watched = installation.rota("graph", "show", run_id, "--watch")

    assert (paused.code, resumed.code, watched.code) == (0, 0, 0)
    assert "paused" in drawn.lines[0]
    assert held == "waiting"
    assert states() == ["succeeded", "succeeded"]


def ended(installation: Installation, run_id: str, step: int) -> bool:
    shown = installation.rota("graph", "show", run_id, "--json").json
    return bool(shown["steps"][step]["run_status"] == "succeeded")


def test_a_graph_is_drawn_in_place_on_a_terminal_until_it_has_ended(
    installation: Installation, tmp_path: Path, name: str
) -> None:
    gate = tmp_path / "gate"
    steps = [
        {"name": "gated", "kind": "kit.steps", "payload": {"gate": str(gate)}},
        *(greeting(f"then{n}", "gated") for n in range(60)),
    ]
    run_id = made(installation, tmp_path, name, steps)

    with installation.in_terminal("graph", "show", run_id, "--watch") as terminal:
        terminal.until("● gated")
        terminal.until("more")
        gate.touch()
        code = terminal.end()

    assert code == 0
    assert "✓ gated" in terminal.text
    assert "61 of 61 steps done" in terminal.text
    assert "Traceback" not in terminal.text


def test_a_file_is_checked_without_a_server(tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text("steps:\n  - {name: a, kind: x}\n  - {name: b, kind: x, needs: [a]}\n")

    good = ran("graph", "check", "flow.yaml", folder=tmp_path, ROTA_URL="http://127.0.0.1:1")
    file.write_text(file.read_text().replace("[a]", "[c]"))
    bad = ran("graph", "check", "flow.yaml", folder=tmp_path)

    assert good.lines == ["flow: valid, 2 steps", "a     x", "└─ b  x"]
    assert (bad.code, bad.out) == (64, "")
    assert bad.err.startswith("rota: flow.yaml:3:32: 'c' is invalid: no such step")


def test_mistakes_are_told_in_one_line(installation: Installation, tmp_path: Path) -> None:
    rota = installation.rota
    installation.rota("jobs", "create", "no graph", "--kind", "kit.greet", "--on-demand")

    said = [
        rota("graph", "show", "no such job"),
        rota("graph", "show", "no graph"),
        rota("graph", "show", "no graph", "--watch"),
        rota("graph", "show", f"run_{'0' * 32}"),
        rota("graph", "pause", "run_xyz"),
        rota("jobs", "create", "x", "--graph", str(tmp_path / "none.yaml")),
    ]

    assert [each.code for each in said] == [66, 66, 64, 66, 64, 64]
    assert all(each.err.count("\n") == 1 for each in said)


def test_an_exported_graph_is_what_was_made(
    installation: Installation, tmp_path: Path, name: str
) -> None:
    steps = [greeting("a"), greeting("b", "a")]
    file = tmp_path / "graph.json"
    file.write_text(json.dumps({"steps": steps}))
    installation.rota("jobs", "create", name, "--graph", str(file), "--cron", "0 2 * * *")

    exported = tmp_path / "rota.yaml"
    done = installation.rota("export", "--project", "p", "--out", str(exported))
    checked = installation.rota("graph", "check", str(exported))

    assert done.code == 0, done.err
    assert f"{name}: valid, 2 steps" in checked.out
