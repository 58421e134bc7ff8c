"""`rota up` and `rota migrate` as people start them: real processes, real signals (O1)."""

import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rota.store.embedded import Embedded

ROTA = Path(sys.executable).with_name("rota")
PATIENCE = 60


def environment(**extra: str) -> dict[str, str]:
    """Ours, without settings of whoever runs the tests. A free port: others test meanwhile."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ROTA_")}
    return kept | {"ROTA_API__PORT": "0"} | extra


@contextmanager
def started(folder: Path, *arguments: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [ROTA, "up", *arguments],
        cwd=folder,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def said_when_up(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    said = ""
    while "Rota is up" not in said:
        line = process.stdout.readline()
        assert line, f"it ended after: {said}{process.stderr.read() if process.stderr else ''}"
        said += line
    return said


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, errors


def test_it_starts_says_so_and_ends_cleanly_on_ctrl_c(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        said = said_when_up(process)
        process.send_signal(signal.SIGINT)
        code, errors = ended(process)

    assert "schema migrated" in said
    assert (code, "Traceback" in errors) == (0, False)
    assert (tmp_path / ".rota").is_dir()


def test_the_second_start_finds_the_schema_up_to_date(tmp_path: Path) -> None:
    for expected in ("schema migrated", "schema up to date"):
        with started(tmp_path, "--data", str(tmp_path / "my data")) as process:
            said = said_when_up(process)
            process.send_signal(signal.SIGTERM)
            code, _ = ended(process)
        assert expected in said
        assert code == 0


def test_two_of_them_share_one_database(tmp_path: Path) -> None:
    with started(tmp_path) as one, started(tmp_path) as two:
        said_when_up(one)
        said_when_up(two)

        one.kill()
        one.communicate()
        two.send_signal(signal.SIGTERM)
        code, errors = ended(two)

    assert (code, "Traceback" in errors) == (0, False)


def test_a_server_that_may_lose_data_is_refused_with_the_reason(
    server: Embedded, tmp_path: Path
) -> None:
    with started(tmp_path, ROTA_DATABASE_URL=server.url) as process:
        code, errors = ended(process)

    assert code == 78
    assert errors.startswith("rota: cannot use this database: fsync is off")
    assert "Traceback" not in errors
    assert not (tmp_path / ".rota").exists()


def test_an_unreachable_server_is_told_in_one_line(tmp_path: Path, unused_tcp_port: int) -> None:
    url = f"postgresql://rota:geheim@127.0.0.1:{unused_tcp_port}/rota"

    with started(tmp_path, ROTA_DATABASE_URL=url, ROTA_DATABASE__WAIT_AT_START="0s") as process:
        code, errors = ended(process)

    assert code == 69
    assert errors.count("\n") == 1
    assert "geheim" not in errors


def test_a_mistyped_setting_is_refused_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "rota.toml").write_text("[worker]\nslot = 3\n")

    with started(tmp_path) as process:
        code, errors = ended(process)

    assert code == 64
    assert "worker.slot" in errors
    assert "worker.slots" in errors
    assert not (tmp_path / ".rota").exists()


def test_programs_that_are_not_there_are_told_in_one_line(tmp_path: Path) -> None:
    with started(tmp_path, ROTA_DATABASE__BINARIES=str(tmp_path / "nowhere")) as process:
        code, errors = ended(process)

    assert code == 69
    assert errors.startswith("rota: cannot run the embedded PostgreSQL")
    assert errors.count("\n") == 1


def test_migrate_brings_the_schema_up_to_date_and_ends(tmp_path: Path) -> None:
    done = subprocess.run(
        [ROTA, "migrate"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )

    assert done.returncode == 0, done.stderr
    assert "Applied 0001_names" in done.stdout
    assert done.stdout.endswith("The schema is up to date\n")


@pytest.mark.parametrize("command", ["up", "worker"])
def test_programs_of_jobs_do_not_run_as_root_unless_somebody_says_so(
    tmp_path: Path, command: str
) -> None:
    """As root it does not start; as anybody else it would refuse a user that it cannot become."""
    is_root = os.geteuid() == 0
    user = "" if is_root else 'shell_user = "root"'
    (tmp_path / "rota.toml").write_text(f'[executors]\nshell_allow = ["/bin/sh"]\n{user}\n')

    done = subprocess.run(
        [ROTA, command],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )

    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr.startswith("rota: executors.shell_user: ")
    assert ("runs as root" if is_root else "only a worker that runs as root") in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / ".rota").exists()


def test_key_files_that_programs_of_jobs_can_read_are_named_at_the_start(tmp_path: Path) -> None:
    me = pwd.getpwuid(os.geteuid()).pw_name
    (tmp_path / "rota.toml").write_text(
        f'[executors]\nshell_allow = ["/bin/sh"]\nshell_user = "{me}"\n'
    )
    with started(tmp_path) as process:
        said_when_up(process)
        assert process.stdout is not None
        warned = process.stdout.readline()

    assert f"warning: shell jobs run as {me!r}, which can read" in warned
    assert ".key" in warned
