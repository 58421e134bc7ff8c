"""A worker of root says whom the programs of its jobs run as (E4)."""

import os
import pwd
from pathlib import Path
from typing import Any

import pytest

from rota.config.loader import load_settings
from rota.config.settings import Settings
from rota.core.errors import InvalidSetting
from rota.processes.shell_user import can_read, check_shell_user, find_exposed_keys

ROOT, SOMEBODY = 0, 12_345
NOBODY = pwd.getpwnam("nobody")


def settings(folder: Path, **executors: Any) -> Settings:
    flags = {"executors": executors, "database": {"data": str(folder)}}
    return load_settings(environment={}, flags=flags, default_files=())


def test_a_root_worker_with_programs_and_no_user_for_them_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting) as refused:
        check_shell_user(settings(tmp_path, shell_allow=["/bin/sh"]), uid=ROOT)

    assert refused.value.field == "executors.shell_user"
    for words in ("runs as root", 'shell_user = "nobody"', 'shell_user = "root"'):
        assert words in str(refused.value)


@pytest.mark.parametrize("user", ["nobody", "root"])
def test_a_root_worker_runs_programs_as_the_user_that_is_named(tmp_path: Path, user: str) -> None:
    check_shell_user(settings(tmp_path, shell_allow=["*"], shell_user=user), uid=ROOT)


def test_a_worker_without_programs_needs_no_user(tmp_path: Path) -> None:
    check_shell_user(settings(tmp_path), uid=ROOT)


def test_a_worker_of_somebody_else_runs_programs_as_itself_and_as_nobody_else(
    tmp_path: Path,
) -> None:
    check_shell_user(settings(tmp_path, shell_allow=["*"]), uid=SOMEBODY)
    check_shell_user(settings(tmp_path, shell_allow=["*"], shell_user="nobody"), uid=NOBODY.pw_uid)
    with pytest.raises(InvalidSetting, match="only a worker that runs as root"):
        check_shell_user(settings(tmp_path, shell_allow=["*"], shell_user="nobody"), uid=SOMEBODY)


def test_key_files_that_programs_can_read_are_named(tmp_path: Path) -> None:
    for name in ("admin.key", "master.key"):
        (tmp_path / name).write_text("secret")
        (tmp_path / name).chmod(0o600)
    me = pwd.getpwuid(os.geteuid()).pw_name

    exposed = list(find_exposed_keys(settings(tmp_path, shell_allow=["*"], shell_user=me)))
    hidden = list(find_exposed_keys(settings(tmp_path, shell_allow=["*"], shell_user="nobody")))
    off = list(find_exposed_keys(settings(tmp_path)))

    assert [str(tmp_path / "admin.key") in exposed[0], len(exposed)] == [True, 2]
    assert (hidden, off) == ([], [])


def test_a_file_can_be_read_only_through_folders_that_can_be_entered(tmp_path: Path) -> None:
    folder, file = tmp_path / "in", tmp_path / "in" / "key"
    folder.mkdir()
    file.write_text("secret")
    file.chmod(0o604)
    found = {}
    for mode in (0o700, 0o705):
        folder.chmod(mode)
        found[mode] = can_read(file, NOBODY)

    above = all(each.stat().st_mode & 0o001 for each in tmp_path.parents)
    assert found == {0o700: False, 0o705: above and bool(tmp_path.stat().st_mode & 0o001)}
