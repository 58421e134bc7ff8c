"""`rota up --demo`, `rota status` and `rota worker`, as people use them (O1, E6)."""

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.integration.cli.test_up import ROTA, ended, environment, said_when_up, started
from tests.support.shop import CLOCK

PATIENCE = 40.0


def status(folder: Path, *arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [ROTA, "status", *arguments],
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def until_status(folder: Path, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    end = CLOCK.monotonic() + PATIENCE
    while True:
        seen: dict[str, Any] = json.loads(status(folder, "--json"))
        if wanted(seen):
            return seen
        assert CLOCK.monotonic() < end, seen


def test_example_jobs_run_and_status_shows_them(tmp_path: Path) -> None:
    with started(tmp_path, "--demo") as process:
        said = said_when_up(process)
        seen = until_status(
            tmp_path,
            lambda seen: {"succeeded", "skipped"} <= {row["state"] for row in seen["ended"]},
        )
        shown = status(tmp_path)
        process.send_signal(signal.SIGINT)
        code, errors = ended(process)

    assert "Added 10 example jobs" in said
    assert {node["role"] for node in seen["nodes"]} == {"scheduler", "worker"}
    assert "PROCESS" in shown
    assert "succeeded" in shown
    assert (code, "Traceback" in errors) == (0, False)


def test_a_second_start_does_not_add_the_example_jobs_again(tmp_path: Path) -> None:
    for expected in ("10 example jobs", "0 example jobs"):
        with started(tmp_path, "--demo") as process:
            said = said_when_up(process)
            process.send_signal(signal.SIGTERM)
            code, _ = ended(process)
        assert expected in said
        assert code == 0


def test_handlers_that_cannot_be_found_are_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "wrong.py").write_text("def (:\n")
    for app, reason in (
        ("nowhere:handlers", "No module named 'nowhere'"),
        ("json:handlers", "has no attribute 'handlers'"),
        ("json:loads", "a Handlers object"),
        ("json", "module:attribute"),
        ("broken:handlers", "ZeroDivisionError"),
        ("wrong:handlers", "invalid syntax"),
    ):
        done = subprocess.run(
            [ROTA, "worker", app],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 64
        assert reason in done.stderr
        assert "Traceback" not in done.stderr
