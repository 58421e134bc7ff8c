"""How commands and clients find a `rota up` on any port, and what they say if they do not (I3)."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.cli.test_up import ended, said_when_up, started
from tests.support.installation import Installation, ran

SUBMIT = """
import rota

app = rota.App("shop")


@app.job()
def greet() -> None: ...


greet.submit()
print("submitted")
"""
COUNT = """
import asyncio
import rota


async def main() -> None:
    async with rota.AsyncClient() as client:
        print(len((await client.list_jobs()).items))


with rota.Client() as client:
    print(client.url)
asyncio.run(main())
"""
AWAY = "http://127.0.0.1:1"


def python(code: str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ROTA_")}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=kept | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_rota_up_on_another_port_is_found_from_its_folder_and_from_those_below(
    installation: Installation,
) -> None:
    below = installation.folder / "src" / "shop"
    below.mkdir(parents=True, exist_ok=True)

    here = ran("whoami", "--json", folder=installation.folder)
    there = ran("status", folder=below)
    submitted = python(SUBMIT, below)
    counted = python(COUNT, below)

    assert (here.code, here.json["role"]) == (0, "platform")
    assert (there.code, there.err) == (0, "")
    assert submitted.stdout == "submitted\n", submitted.stderr
    assert counted.stdout.splitlines()[0] == installation.url, counted.stderr
    assert not (below / ".rota").exists()


def test_the_address_is_removed_at_a_clean_stop_and_known_as_stale_after_a_kill(
    tmp_path: Path,
) -> None:
    file = tmp_path / ".rota" / "api.json"
    with started(tmp_path) as process:
        said_when_up(process)
        running = ran("whoami", folder=tmp_path)
        process.kill()
        process.communicate()
        killed = ran("whoami", folder=tmp_path)
    with started(tmp_path) as process:
        said_when_up(process)
        again = ran("whoami", folder=tmp_path)
        process.send_signal(signal.SIGTERM)
        ended(process)

    assert (running.code, again.code) == (0, 0)
    assert (killed.code, killed.err.count("\n")) == (69, 1)
    assert f"(from {file}, but process " in killed.err
    assert "which wrote it, has ended)" in killed.err
    assert not file.exists()


@pytest.mark.parametrize("command", [("status",), ("jobs", "list"), ("top", "--once")])
def test_without_a_server_a_command_says_so_in_one_sentence_and_makes_nothing(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    said = ran(*command, folder=tmp_path, ROTA_URL=AWAY)

    assert (said.code, said.out) == (69, "")
    assert said.err == (
        f"rota: cannot reach {AWAY} (from ROTA_URL): connection refused; "
        "start Rota with `rota up`, or set its address with --url or ROTA_URL\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_without_a_server_python_gets_a_short_error_of_its_own(tmp_path: Path) -> None:
    for code in (SUBMIT, COUNT):
        said = python(code, tmp_path, ROTA_URL=AWAY)

        assert f"Unreachable: cannot reach {AWAY} (from ROTA_URL): connection refused" in (
            said.stderr
        )
        assert "urllib3" not in said.stderr
        assert "aiohttp" not in said.stderr
        assert said.stderr.count("\n") < 40


def test_a_key_that_is_not_found_is_told_with_the_places_that_were_looked_at(
    installation: Installation, tmp_path: Path
) -> None:
    said = ran("jobs", "list", "--url", installation.url, folder=tmp_path)

    assert said.code == 77
    assert said.err == (
        "rota: no key was found: no --key-file was given, ROTA_API_KEY is not set, "
        f"{tmp_path}/.rota/admin.key does not exist\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--url", "URL", "status"),
        ("--url=URL", "--json", "whoami"),
        ("-q", "--url", "URL", "jobs", "list"),
        ("jobs", "--url", "URL", "--json", "list", "--limit", "1"),
        ("jobs", "list", "--url", "URL"),
        ("--url", "URL", "workers", "--json"),
    ],
)
def test_global_options_work_before_and_after_the_command(
    installation: Installation, arguments: tuple[str, ...]
) -> None:
    words = [word.replace("URL", installation.url) for word in arguments]

    said = installation.rota(*words, ROTA_URL=AWAY)

    assert (said.code, said.err) == (0, "")
    if "--json" in arguments:
        assert isinstance(said.json, list | dict)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--url",), 'Option "--url" requires an argument'),
        (("--url", AWAY, "completion", "show", "bash"), "Unknown option: --url"),
        (("--colour", "status"), "--colour"),
        (("--json", "jbs", "list"), 'Did you mean "jobs"?'),
    ],
)
def test_an_option_before_the_command_that_makes_no_sense_is_refused(
    installation: Installation, arguments: tuple[str, ...], said: str
) -> None:
    found = installation.rota(*arguments)

    assert (found.code, found.err.count("\n")) == (64, 1)
    assert said in found.err
