"""`rota open`, `load`, `kinds` and `drain`: what the dashboard does, without it."""

import subprocess
from typing import Any

from tests.support.installation import Installation, until


def test_open_prints_a_link_that_logs_in(installation: Installation) -> None:
    said = installation.rota("open", "--print")
    told = installation.rota("open", "--json").json

    (line,) = said.lines
    assert line.startswith(f"{installation.url}/login#ticket=")
    assert set(told) == {"ticket", "path", "expires_at"}
    assert told["ticket"] not in line


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
    assert "takes no more runs" in said.out
    assert installation.rota("drain").code == 64
