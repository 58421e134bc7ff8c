"""`rota open`, `load`, `kinds` and `drain`: what the dashboard does, without it."""

import os
import stat
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.support.installation import Installation, ran, until


def test_open_prints_a_link_that_logs_in(installation: Installation) -> None:
    said = installation.rota("open", "--print")
    told = installation.rota("open", "--json").json

    (line,) = said.lines
    assert line.startswith(f"{installation.url}/login#ticket=")
    assert set(told) == {"ticket", "path", "expires_at"}
    assert told["ticket"] not in line


def test_open_hands_the_browser_a_file_that_nobody_else_can_read(
    installation: Installation, tmp_path: Path
) -> None:
    """The list of processes is for everybody: no ticket in it."""
    old = tmp_path / "rota-open-old.html"
    old.touch()
    os.utime(old, (0, 0))
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$*" >{tmp_path}/arguments.new\n')
    with browser.open("a") as script:
        script.write(f"mv {tmp_path}/arguments.new {tmp_path}/arguments\n")
    browser.chmod(0o755)

    said = ran(
        "open",
        folder=installation.folder,
        ROTA_URL=installation.url,
        BROWSER=f"{browser} %s",
        XDG_RUNTIME_DIR=str(tmp_path),
    )

    until((tmp_path / "arguments").exists, "the browser")
    arguments = (tmp_path / "arguments").read_text()
    file = Path(urlsplit(arguments).path)
    (link,) = said.lines
    assert "ticket" not in arguments
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert f'content="0;url={link}"' in file.read_text()
    assert not old.exists()


def test_load_shows_how_much_fires_when(installation: Installation) -> None:
    span = ("--since", "2030-01-07T00:00:00Z", "--until", "2030-01-08T00:00:00Z")
    # Other tests make jobs here too.
    before = ticks(installation.rota("load", *span, "--json").json)
    for number in range(3):
        name = f"load {number}"
        installation.rota("jobs", "create", name, "--cron", "0 4 7 1 *", "--kind", "kit.greet")

    after = ticks(installation.rota("load", *span, "--json").json)
    shown = installation.rota("load", *span)
    wrong = installation.rota("load", "--since", "soon")

    more = {start: number - before.get(start, 0) for start, number in after.items()}
    assert {start: number for start, number in more.items() if number} == {
        "2030-01-07T04:00:00Z": 3
    }
    assert "2030-01-07T04:00:00Z" in shown.out
    assert wrong.code == 64


def ticks(load: Any) -> dict[str, int]:
    return {each["start"]: each["ticks"] for each in load}


def test_kinds_are_listed_with_the_workers_that_serve_them(installation: Installation) -> None:
    found = installation.rota("kinds", "--json").json

    kinds = {each["kind"]: each for each in found}
    assert kinds["kit.greet"]["workers"] >= 1
    assert kinds["http"]["payload_schema"]["required"] == ["url"]
    assert "url" in installation.rota("kinds").out


def test_tasks_are_listed_and_shown(installation: Installation) -> None:
    listed = installation.rota("tasks", "--json").json
    named = installation.rota("tasks", "list", "--search", "HTTP request", "--quiet")
    shown = installation.rota("tasks", "show", "http", "--window", "1h")
    told = installation.rota("tasks", "show", "http", "--json").json
    missing = installation.rota("tasks", "show", "nothing")

    tasks = {each["kind"]: each for each in listed}
    assert tasks["kit.greet"]["workers"] >= 1
    assert "graph" not in tasks
    assert named.lines == ["http"]
    assert "Sends an HTTP request." in shown.out
    assert "url" in shown.out
    assert (told["window"], told["payload_schema"]["required"]) == ("24h", ["url"])
    assert missing.code == 66


def test_a_drained_worker_ends_by_itself(installation: Installation) -> None:
    with installation.started("worker", "kit:handlers", stdout=subprocess.DEVNULL) as process:

        def mine() -> str | None:
            found = installation.rota("workers", "--json").json
            ids = [each["worker_id"] for each in found if each["name"].endswith(f":{process.pid}")]
            return ids[0] if ids else None

        worker = until(mine, "the worker")

        said = installation.rota("drain", worker)
        code = process.wait(30)

    nobody = installation.rota("drain", "wrk_" + "0" * 32)
    assert (said.code, code, nobody.code) == (0, 0, 66)
    assert "Draining " in said.out
    assert installation.rota("drain").code == 64
