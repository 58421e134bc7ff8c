"""What cannot work says in one sentence why, and what to do. Proves O1 and F47."""

import contextlib
import os
import re
import shutil
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.embedded.conftest import GONE, SOON, answers, ask, await_stop, without
from tests.support.processes import Person, User

from rota.core.errors import EmbeddedFailed, InvalidSetting
from rota.store.embedded import EmbeddedOptions, diagnosis, start
from rota.store.embedded.binaries import find_in_wheels
from rota.store.embedded.polling import wait_until

Begin = Callable[..., User]


def refusal(home: Path, **options: object) -> EmbeddedFailed:
    with pytest.raises(EmbeddedFailed) as refused:
        start(home, options=EmbeddedOptions(**options)).close()  # type: ignore[arg-type]
    assert refused.value.remedy
    assert len(refused.value.reason) < 1000
    return refused.value


def test_a_home_in_a_folder_that_may_not_be_written_to(
    area: Path, unprivileged: Person, user: Begin
) -> None:
    area.chmod(0o555)

    refused = user(area / "home", person=unprivileged).arrive()
    area.chmod(0o755)

    assert "permission denied" in refused.failure


def test_a_home_that_may_not_be_written_to(area: Path, unprivileged: Person, user: Begin) -> None:
    home = area / "home"
    home.mkdir(mode=0o500)
    os.chown(home, unprivileged.uid, unprivileged.gid)

    refused = user(home, person=unprivileged).arrive()

    assert f"{home} is not writable" in refused.failure


def test_a_home_of_another_user(unprivileged: Person, user: Begin) -> None:
    refused = user(Path("/usr"), person=unprivileged).arrive()

    assert "belongs to the user root" in refused.failure


def test_a_home_that_is_a_file(area: Path) -> None:
    (area / "home").touch()

    assert "is not a folder" in refusal(area / "home").reason


def test_a_data_folder_that_is_something_else(area: Path) -> None:
    (area / "home" / "data").mkdir(parents=True)
    (area / "home" / "data" / "holiday.jpg").touch()

    assert "does not contain a PostgreSQL cluster" in refusal(area / "home").reason


def test_a_cluster_with_parts_missing(home: Path) -> None:
    with without(home / "data" / "global" / "pg_control"):
        assert "is incomplete: global/pg_control is missing" in refusal(home).reason


def test_a_damaged_cluster_shows_what_the_server_said(home: Path) -> None:
    with without(home / "data" / "pg_wal"):
        reason = refusal(home).reason

    assert "starting the server" in reason
    assert "FATAL:" in reason


def test_a_cluster_of_another_major_version(home: Path) -> None:
    *_, older = find_in_wheels()

    refused = refusal(home, binaries=older)

    assert re.search(r"PostgreSQL \d+ wrote the data, but only \d+\.", refused.reason)
    assert "dump" in refused.remedy


def test_a_demanded_port_that_is_taken(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        assert (
            f"port {port} of 127.0.0.1 is used by another program"
            in refusal(home, port=port).reason
        )


def test_a_port_that_was_ours_and_is_taken_now_is_replaced(home: Path) -> None:
    with start(home) as server:
        before = server.tcp_url
    await_stop(home)
    port = int(re.search(r":(\d+)/", before)[1])  # type: ignore[index]

    with socket.create_server(("127.0.0.1", port)), start(home) as server:
        assert server.tcp_url != before
        assert answers(server.tcp_url)


def test_a_demanded_port_that_is_free_is_used(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]

    with start(home, options=EmbeddedOptions(port=port)) as server:
        assert f"127.0.0.1:{port}/" in server.tcp_url
        assert "already runs on port" in refusal(home, port=port + 1).reason


@pytest.mark.parametrize("port", [0, 65536, -1])
def test_a_port_that_is_none(home: Path, port: int) -> None:
    with pytest.raises(InvalidSetting) as refused:
        start(home, options=EmbeddedOptions(port=port))

    assert refused.value.field == "embedded.port"


@pytest.mark.parametrize(
    ("wishes", "meaning"),
    [
        ({"no_such_setting": "1"}, "does not know a setting"),
        ({"work_mem": "plenty"}, "a setting has an invalid value"),
    ],
)
def test_a_setting_that_the_server_refuses(
    home: Path, wishes: dict[str, str], meaning: str
) -> None:
    reason = refusal(home, settings=wishes).reason

    assert meaning in reason
    assert next(iter(wishes)) in reason


def test_too_little_memory_for_the_buffers_still_gives_a_server(home: Path, user: Begin) -> None:
    little = ("sh", "-c", 'ulimit -v 600000; exec "$@"', "sh")

    frugal = user(home, through=little, settings={"shared_buffers": "1GB"}).arrive()

    assert ask(frugal.url, "show shared_buffers") == "16MB"


@pytest.fixture
def programs(area: Path) -> Path:
    folder = area / "bin"
    folder.mkdir()
    for name in ("postgres", "initdb"):
        shutil.copy("/bin/true", folder / name)
    return folder


def test_a_folder_without_programs(home: Path, area: Path) -> None:
    assert "does not contain the programs" in refusal(home, binaries=area).reason


def test_programs_for_another_processor(home: Path, programs: Path) -> None:
    image = bytearray((programs / "postgres").read_bytes())
    image[18:20] = struct.pack("<H", 0x4242)
    (programs / "postgres").write_bytes(image)

    assert "is built for another processor" in refusal(home, binaries=programs).reason


def test_programs_for_another_c_library(home: Path, programs: Path) -> None:
    """As on Alpine: the program is there, the loader that it names is not."""
    (programs / "postgres").write_text("#!/lib/ld-of-another-library.so\n")

    assert "needs a C library that this system does not have" in (
        refusal(home, binaries=programs).reason
    )


def test_programs_that_lack_a_library(home: Path, programs: Path) -> None:
    shutil.copy(next(find_in_wheels()) / "psql", programs / "postgres")

    reason = refusal(home, binaries=programs).reason

    assert "need a system library that is missing" in reason
    assert "libpq" in reason


def test_programs_that_are_something_else(home: Path, programs: Path) -> None:
    assert f"running {programs / 'postgres'} failed" in refusal(home, binaries=programs).reason


def test_no_programs_at_all(home: Path, monkeypatch: pytest.MonkeyPatch, area: Path) -> None:
    monkeypatch.setattr("rota.store.embedded.binaries.WHEELS", ("no_such_wheel",))
    monkeypatch.setattr("rota.store.embedded.binaries.SYSTEM_FOLDERS", ())
    monkeypatch.setenv("PATH", str(area))

    refused = refusal(home)

    assert "no PostgreSQL programs" in refused.reason
    assert "rota[embedded]" in refused.remedy


def can_mount() -> bool:
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return (
        shutil.which("unshare") is not None
        and subprocess.run(command, check=False, capture_output=True).returncode == 0
    )


# Only root of a whole machine can make a small disk.
if can_mount():

    @pytest.fixture
    def disk(area: Path) -> Iterator[Callable[[int], Path]]:
        mounted: list[Path] = []

        def of_size(megabytes: int) -> Path:
            folder = area / "disk"
            folder.mkdir()
            options = f"size={megabytes}m"
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], check=True)
            mounted.append(folder)
            return folder

        yield of_size
        for folder in mounted:
            if (folder / "home" / "users.lock").exists():
                await_stop(folder / "home")
            subprocess.run(["umount", folder], check=True)

    @pytest.mark.parametrize("megabytes", [1, 20])
    def test_a_disk_that_is_too_small_for_a_cluster(
        disk: Callable[[int], Path], megabytes: int
    ) -> None:
        folder = disk(megabytes)

        reason = refusal(folder / "home").reason

        assert "disk" in reason
        assert "full" in reason
        assert not any((folder / "home").glob("init-*"))

    @pytest.mark.parametrize("left", [0, 4096])
    def test_a_disk_that_filled_up_between_two_starts(
        disk: Callable[[int], Path], left: int
    ) -> None:
        folder = disk(100)
        start(folder / "home").close()
        await_stop(folder / "home")

        ballast = folder / "ballast"
        ballast.write_bytes(bytes(shutil.disk_usage(folder).free - left))
        refused = refusal(folder / "home")
        silent = diagnosis.diagnose_output("", doing="starting", home=folder)
        ballast.unlink()

        assert "disk" in refused.reason
        assert "full" in refused.reason
        assert "full" in silent.reason, "a full disk also takes away the server's log"

    def test_a_disk_that_fills_up_under_a_server_costs_no_acknowledged_row(
        disk: Callable[[int], Path],
    ) -> None:
        folder = disk(120)
        with start(folder / "home") as server:
            ask(server.url, "create table acked (id int)")
            ballast = folder / "ballast"
            ballast.write_bytes(bytes(shutil.disk_usage(folder).free - (2 << 20)))
            acknowledged = write_until_full(server.url)
            assert wait_until(lambda: not answers(server.url), seconds=SOON)

            ballast.unlink()

            assert wait_until(lambda: answers(server.url), seconds=SOON)
            assert acknowledged <= set(ask(server.url, "select array_agg(id) from acked"))

    def write_until_full(url: str) -> set[int]:
        """Write rows, and much log with each, until the server can take no more."""
        acknowledged: set[int] = set()
        with contextlib.suppress(*GONE):
            for number in range(1000):
                ask(url, f"insert into acked values ({number}) returning id")
                acknowledged.add(number)
                ask(url, "select pg_logical_emit_message(true, 'much', repeat('x', 1000000))")
        return acknowledged
