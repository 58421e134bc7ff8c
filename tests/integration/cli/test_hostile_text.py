"""What a job writes cannot steer the terminal of those who look at it (F12)."""

import json
from pathlib import Path

import pytest
from tests.support.installation import Installation, speaks, until

TEXT = (
    "\x1b]0;title\x07 \x1b[2J\x1b[H \x1b]8;;https://evil.example\x1b\\\\link\x1b]8;;\x1b\\\\"
    " \x9b31m \x1b[31mred\x1b[0m gpj.\u202etxt \u2066\u200b 50%\r100%"
)
CRONTAB = f"61 * * * * {TEXT}\n* * * * * echo {TEXT}\n"


def is_harmless(text: str) -> bool:
    return all(line.isprintable() for line in text.replace("\t", " ").split("\n"))


@pytest.fixture(scope="session")
def run_id(installation: Installation) -> str:
    """A run that has said it all, and is a dead letter now."""
    job = installation.client.create_job(kind="kit.hostile", payload=TEXT, name="hostile").job_id
    (found,) = until(lambda: installation.client.list_runs(job_id=job).items, "its run")
    installation.ended(found.run_id)
    return str(found.run_id)


@pytest.mark.parametrize("words", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize(
    "command",
    [
        ("runs", "logs", "RUN"),
        ("runs", "logs", "--follow", "RUN"),
        ("why", "RUN"),
        ("runs", "show", "RUN"),
        ("runs", "list", "--job", "hostile"),
        ("runs", "watch", "RUN"),
        ("jobs", "show", "hostile"),
        ("dead", "list"),
        ("top", "--once"),
    ],
    ids=" ".join,
)
def test_no_command_prints_a_control_sequence_of_a_job(
    installation: Installation, run_id: str, command: tuple[str, ...], words: tuple[str, ...]
) -> None:
    said = installation.rota(*(run_id if word == "RUN" else word for word in command), *words)

    assert said.out, said.err
    assert is_harmless(said.out + said.err)
    if words and command[:2] != ("runs", "logs"):
        json.loads(said.out)


@pytest.mark.parametrize("words", [(), ("--json",)], ids=["text", "json"])
def test_the_feed_prints_no_control_sequence_of_a_job(
    installation: Installation, run_id: str, words: tuple[str, ...]
) -> None:
    job = installation.client.get_run(run_id).job_id
    with installation.started("feed", "--job", job, "--count", "1", *words) as process:
        while not speaks(process, within=0.5):
            installation.client.run_job_now(job)
        out, errors = process.communicate(timeout=60)

    assert is_harmless(out + errors), out


def test_a_log_in_a_pipe_has_no_colours_and_raw_has_every_byte(
    installation: Installation, run_id: str
) -> None:
    usual = installation.rota("runs", "logs", run_id)
    raw = installation.rota("runs", "logs", "--raw", run_id)

    assert " red gpj." in usual.out
    assert "\n100%\n" in usual.out
    assert TEXT in raw.out


def test_a_log_on_a_terminal_has_colours_and_nothing_else(
    installation: Installation, run_id: str
) -> None:
    with installation.in_terminal("runs", "logs", run_id) as terminal:
        assert terminal.end() == 0

    assert "\x1b[31mred\x1b[0m" in terminal.raw
    assert terminal.raw.rstrip().endswith("\x1b[0m")
    left = terminal.raw.replace("\x1b[31m", "").replace("\x1b[0m", "").replace("\r\n", "\n")
    assert is_harmless(left), left


def test_lines_that_an_import_leaves_out_are_harmless(
    installation: Installation, tmp_path: Path
) -> None:
    (tmp_path / "crontab").write_text(CRONTAB)

    said = installation.rota("import", "crontab", str(tmp_path / "crontab"))

    assert "skipped" in said.err
    assert is_harmless(said.err)


def test_what_the_server_and_the_arguments_say_is_harmless(installation: Installation) -> None:
    for words in (("runs", "show", TEXT), ("jobs", "show", TEXT), (TEXT,), ("jobs", f"--{TEXT}")):
        said = installation.rota(*words)

        assert said.code != 0
        assert is_harmless(said.err), words


def test_the_log_of_rota_itself_is_harmless(installation: Installation, run_id: str) -> None:
    del run_id
    log = (installation.folder / "log").read_text()

    assert is_harmless(log)
