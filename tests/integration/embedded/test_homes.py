"""Where a home may lie, and whom it may belong to. Proves O1."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.embedded.conftest import ask, await_stop
from tests.support.processes import Person, User, keeper_of, kill, postmaster_of

from rota.store.embedded import EmbeddedOptions, start
from rota.store.embedded.account import choose_account
from rota.store.embedded.binaries import find_in_system_folders, find_in_wheels, probe_reachable
from rota.store.embedded.install_copies import copy_install
from rota.store.embedded.processes import find_processes_in, list_with_lsof

Begin = Callable[..., User]
INSTALLS = [*find_in_wheels(), *find_in_system_folders()]


def test_every_user_can_have_a_server_of_his_own(area: Path, person: Person, user: Begin) -> None:
    own = area / "own"
    own.mkdir()
    os.chown(own, person.uid, person.gid)

    one = user(own / "home", person=person, durable=False).arrive()
    other = user(own / "home", person=person, durable=False).arrive()

    assert ask(one.said["tcp_url"], "show fsync") == "off"
    assert one.url == other.url
    assert (own / "home").stat().st_uid == person.uid


@pytest.mark.parametrize(
    "name",
    [
        "a home, with 'quotes' and \"ümläuts\" and a # and a %20",
        "/".join(["a-very-long-path-of-seventy-characters-that-no-socket-could-ever-have"] * 2),
    ],
    ids=["odd", "long"],
)
def test_a_home_may_have_an_odd_or_a_long_path(area: Path, name: str) -> None:
    home = area / name

    with start(home, durable=False) as server:
        folder = ask(server.url, "show unix_socket_directories")
        assert ask(server.tcp_url, "show unix_socket_directories") == folder
        assert Path(folder).is_dir()
    await_stop(home)

    assert not Path(folder).exists()


@pytest.mark.parametrize("binaries", INSTALLS, ids=lambda folder: folder.parent.name)
def test_a_home_below_a_private_folder_works_and_the_folder_stays_private(
    area: Path, binaries: Path
) -> None:
    private = area / "private"
    private.mkdir(mode=0o700)

    with start(
        private / "home", durable=False, options=EmbeddedOptions(binaries=binaries)
    ) as server:
        assert ask(server.url, "show server_version").startswith(server.version)

    assert private.stat().st_mode & 0o777 == 0o700


def test_programs_in_a_private_folder_are_used_and_the_folder_stays_private(
    area: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = area / "private"
    private.mkdir()
    programs = copy_install(next(find_in_wheels()), into=private)
    private.chmod(0o700)
    monkeypatch.setattr("rota.store.embedded.install_copies.STATE_FOLDER", area / "state")

    install = probe_reachable(programs, choose_account(home / "data"))

    assert install.major >= 15
    assert install.folder.is_relative_to(private if os.geteuid() else area / "state")
    assert private.stat().st_mode & 0o777 == 0o700


def test_a_copy_of_programs_is_made_once(area: Path) -> None:
    first = copy_install(next(find_in_wheels()), into=area)
    mark = first.stat().st_ctime_ns

    assert copy_install(next(find_in_wheels()), into=area) == first
    assert first.stat().st_ctime_ns == mark
    assert len(list(area.iterdir())) == 1


def test_a_cluster_restored_by_its_user_is_used_as_it_is(home: Path, area: Path) -> None:
    """Root's copy belongs to root, whom PostgreSQL refuses: the server's user gets it back."""
    restored = area / "restored"
    shutil.copytree(home, restored)

    with start(restored) as server:
        assert ask(server.url, "select 1") == 1


def test_root_in_a_container_finds_the_server_that_another_user_runs(
    home: Path, user: Begin
) -> None:
    """Containers take from root the right to look at other users' processes."""
    setpriv = shutil.which("setpriv") if os.geteuid() == 0 else None
    through = (setpriv, "--bounding-set", "-sys_ptrace") if setpriv else ()
    first = user(home, through=through).arrive()
    server = postmaster_of(home)

    kill(keeper_of(home))
    second = user(home, through=through).arrive()

    assert second.url == first.url
    assert postmaster_of(home) == server


def test_a_cluster_stays_with_the_major_version_that_made_it(area: Path) -> None:
    *_, oldest = find_in_wheels()
    with start(area / "home", durable=False, options=EmbeddedOptions(binaries=oldest)) as server:
        version = server.version
    await_stop(area / "home")

    with start(area / "home", durable=False) as server:
        assert server.version == version


# macOS has no /proc and asks lsof; where both are, they must agree.
if shutil.which("lsof"):

    def test_lsof_finds_the_server_as_proc_does(home: Path) -> None:
        with start(home):
            listed = list_with_lsof(home / "data")

            assert postmaster_of(home) in listed
            assert postmaster_of(home) in find_processes_in(
                home / "data", choose_account(home / "data")
            )
            assert list_with_lsof(home) == []
