"""What is drawn on a terminal, and that it is left as it was found (I4)."""

import json
from pathlib import Path
from uuid import uuid4

import pytest
from tests.support.installation import Installation
from tests.support.terminal import Terminal

ALTERNATE, BACK = "\x1b[?1049h", "\x1b[?1049l"
HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"
CTRL_C = "\x03"


@pytest.fixture
def name() -> str:
    return f"job {uuid4().hex[:8]}"


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    return tmp_path / "gate"


@pytest.fixture
def half_way(installation: Installation, name: str, gate: Path) -> str:
    """A run that goes on when the gate is there."""
    payload = json.dumps({"gate": str(gate)})
    made = installation.client.create_job(name=name, kind="kit.steps", payload=json.loads(payload))
    assert made.run_id is not None
    return made.run_id


def is_as_before(terminal: Terminal, before: list[object]) -> bool:
    is_shown = terminal.raw.rfind(SHOWN) > terminal.raw.rfind(HIDDEN)
    is_back = terminal.raw.rfind(BACK) >= terminal.raw.rfind(ALTERNATE)
    return is_shown and is_back and terminal.attributes == before


def test_top_shows_the_cluster_until_q(
    installation: Installation, name: str, half_way: str, gate: Path
) -> None:
    with installation.in_terminal("top", "--every", "200ms") as terminal:
        before = terminal.attributes
        drawn = terminal.until("half of the way")
        terminal.type("q")
        code = terminal.end()
        left_well = is_as_before(terminal, before)

    gate.touch()
    assert "rota top · " in drawn
    assert name in drawn
    assert ALTERNATE in terminal.raw
    assert (code, left_well) == (0, True)


def test_ctrl_c_leaves_top_and_the_terminal_as_it_was(installation: Installation) -> None:
    with installation.in_terminal("top") as terminal:
        before = terminal.attributes
        terminal.until("PROCESS")
        terminal.type(CTRL_C)
        code = terminal.end()
        left_well = is_as_before(terminal, before)

    assert (code, left_well) == (130, True)
    assert "Traceback" not in terminal.text


def test_watch_draws_a_bar_until_the_run_has_ended(
    installation: Installation, name: str, half_way: str, gate: Path
) -> None:
    with installation.in_terminal("runs", "watch", half_way) as terminal:
        before = terminal.attributes
        terminal.until("50%")
        gate.touch()
        code = terminal.end()
        left_well = is_as_before(terminal, before)

    assert name in terminal.text
    assert "━" in terminal.text
    assert "100%" in terminal.text
    assert "succeeded" in terminal.text
    assert (code, left_well) == (0, True)


def test_ctrl_c_leaves_watch_and_the_run_goes_on(
    installation: Installation, half_way: str, gate: Path
) -> None:
    with installation.in_terminal("runs", "watch", half_way) as terminal:
        before = terminal.attributes
        terminal.until("half of the way")
        terminal.type(CTRL_C)
        code = terminal.end()
        left_well = is_as_before(terminal, before)
    status = installation.client.get_run(half_way).status
    gate.touch()

    assert (code, left_well) == (130, True)
    assert "Traceback" not in terminal.text
    assert status == "running"
    assert installation.ended(half_way).status == "succeeded"


def test_a_narrow_terminal_cuts_tables_and_colours_them(
    installation: Installation, name: str
) -> None:
    long_name = f"{name} that has a rather long name as jobs sometimes do"
    installation.client.create_job(name=long_name, cron_expression="0 0 1 1 *")

    with installation.in_terminal("jobs", "list", name, width=60) as terminal:
        code = terminal.end()

    lines = terminal.text.splitlines()
    assert code == 0
    assert max(map(len, lines)) <= 60
    assert "…" in lines[1]
    assert "\x1b[32mactive" in terminal.raw


def test_a_question_is_asked_and_no_does_nothing(installation: Installation, name: str) -> None:
    installation.client.create_job(name=name, cron_expression="0 0 1 1 *")

    with installation.in_terminal("jobs", "delete", name) as terminal:
        terminal.until("[y/N]")
        terminal.type("n\n")
        code = terminal.end()

    assert (code, f"Delete {name}?" in terminal.text) == (1, True)
    assert "nothing was changed" in terminal.text
    assert installation.rota("jobs", "show", name).code == 0


def test_a_secret_is_asked_for_and_not_shown(installation: Installation, name: str) -> None:
    secret = name.replace(" ", "-")

    with installation.in_terminal("secrets", "put", secret) as terminal:
        terminal.until(f"value of {secret}:")
        terminal.type("hunter2\n")
        code = terminal.end()

    assert code == 0
    assert "version 1" in terminal.text
    assert "hunter2" not in terminal.text
