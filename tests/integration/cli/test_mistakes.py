"""Mistakes, servers that are away, closed pipes and Ctrl-C: one line and an exit code (I4)."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.installation import Installation, clean, ran, speaks

LOADED = """
import sys
sys.argv = ["rota", "--help"]
from rota.cli.main import run
code = run()
heavy = {"aiohttp", "asyncpg", "starlette", "urllib3", "uvicorn", "cryptography"}
print(code, sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("jbs", "list"), 'Unknown command "jbs". Did you mean "jobs"? See `rota --help`.'),
        (("jobs", "lst"), 'Did you mean "list"?'),
        (("jobs", "list", "--colour"), "Unknown option"),
        (("jobs", "show"), "requires an argument. See `rota jobs show --help`."),
        (("jobs", "list", "--limit", "0"), "Must be >= 1"),
        (("jobs", "list", "--status", "happy"), "happy"),
        (("jobs", "list", "--request-timeout", "30"), "--request-timeout: '30' is invalid"),
        (("jobs", "list", "--url", "nowhere"), "url: 'nowhere' is invalid"),
        (("jobs", "list", "--key-file", "nowhere"), "--key-file: 'nowhere' is invalid"),
        (("jobs", "pause"), "at least one job"),
        (("jobs", "edit", "x"), "nothing to change"),
        (("jobs", "create", "x", "--payload", "{"), "line 1, column 2"),
        (("jobs", "create", "x", "--payload", "@nowhere.json"), "No such file"),
        (("jobs", "create", "x", "--label", "team"), "such as team=billing"),
        (("jobs", "create", "x", "--schedule", "{}", "--cron", "* * * * *"), "--schedule"),
        (("jobs", "create", "x", "--cron", "61 * * * *"), "minute must be 0–59"),
        (("jobs", "create", "x", "--priority", "urgent"), "priority"),
        (("runs", "list", "--since", "yesterday"), "an age such as"),
        (("runs", "show", "x"), "expected a run id"),
        (("runs", "watch"), "at least one run"),
        (("dead", "drop", "--yes"), "no runs selected"),
        (("next", "every day"), "is invalid"),
        (("next", "0 2 * * *", "--tz", "Europe/Berlin2"), "Europe/Berlin"),
        (("next", "0 2 30 2 *"), "is invalid"),
        (("next", "@" + 300 * "a"), "is invalid"),
        (("top", "--json"), "--json requires --once"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    installation: Installation, arguments: tuple[str, ...], said: str
) -> None:
    found = installation.rota(*arguments)

    assert (found.code, found.out, found.err.count("\n")) == (64, "", 1)
    assert found.err.startswith("rota: ")
    assert said in found.err


def test_a_server_that_is_away_is_told_with_its_address(
    installation: Installation, unused_tcp_port: int
) -> None:
    found = installation.rota("jobs", "list", "--url", f"http://127.0.0.1:{unused_tcp_port}")

    assert (found.code, found.out) == (69, "")
    assert found.err.count("\n") == 1
    url = f"http://127.0.0.1:{unused_tcp_port}"
    assert f"cannot reach {url} (given as --url): connection refused; " in found.err


def test_a_wrong_key_is_refused_and_not_shown(installation: Installation) -> None:
    found = installation.rota("jobs", "list", ROTA_API_KEY="rota_wrong_hunter2")

    assert (found.code, found.out, found.err.count("\n")) == (77, "", 1)
    assert "--key-file" in found.err
    assert "hunter2" not in found.err


def test_what_is_not_there_is_66(installation: Installation) -> None:
    run = "run_" + 32 * "0"
    for arguments in (
        ("jobs", "show", "nobody"),
        ("jobs", "show", "job_" + 32 * "0"),
        ("runs", "show", run),
        ("runs", "logs", run, "-f"),
        ("why", run),
        ("calendars", "show", "nothing"),
        ("tenants", "show", "nobody"),
        ("keys", "revoke", "nothing", "--yes"),
    ):
        found = installation.rota(*arguments)

        assert (found.code, found.err.count("\n")) == (66, 1), arguments


def test_the_program_itself_speaks_json_and_ends_well(installation: Installation) -> None:
    found = ran("whoami", "--json", folder=installation.folder, ROTA_URL=installation.url)

    assert (found.code, found.err) == (0, "")
    assert json.loads(found.out)["role"] == "platform"


def test_a_reader_that_has_seen_enough_is_no_error(installation: Installation) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with installation.started("shards", stdout=writing) as process:
        os.close(writing)
        _, errors = process.communicate()

    assert (process.returncode, errors) == (141, "")


def test_ctrl_c_ends_what_follows_without_a_word(installation: Installation) -> None:
    with installation.started("feed", "--json") as process:
        job = installation.client.create_job(kind="kit.fail").job_id
        while not speaks(process, within=0.5):
            installation.client.run_job_now(job)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()

    assert (process.returncode, errors) == (130, "")


def test_help_needs_no_server_no_settings_and_no_heavy_libraries(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        cwd=tmp_path,
        env=clean(ROTA_WORKER__SLOTS="wrong"),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == "0 []\n"
    assert "Exit codes:" in done.stdout


def test_completion_knows_the_commands(installation: Installation, tmp_path: Path) -> None:
    file = tmp_path / "rota.bash"
    installed = installation.rota("completion", "install", "bash", "--to", str(file))
    again = installation.rota(
        "completion", "install", "bash", "--to", str(tmp_path / "no" / "file")
    )
    unknown = installation.rota("completion", "show", "cmd")
    checked = subprocess.run(["bash", "-n", file], check=False)

    assert (installed.code, str(file) in installed.out) == (0, True)
    assert "backfill" in file.read_text()
    assert checked.returncode == 0
    assert (again.code, unknown.code) == (64, 64)
