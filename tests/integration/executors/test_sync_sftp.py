"""Copying to and from another machine by SFTP (E17)."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import asyncssh
import pytest
from tests.support.storing import (
    HookedContext,
    Machine,
    cancelled_midway,
    object_store,
    plant,
    rclone,
    result_of,
    sftp_machine,
    sync,
    tree_of,
)

from rota.core.outcome import Failed
from rota.executors.sync import SyncPlace
from rota.executors.sync.tree import TEMPORARY_PREFIX
from rota.sdk.testing import RecordingContext


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    plant(tmp_path / "far", {})
    async with sftp_machine(tmp_path / "far", tmp_path) as machine:
        yield machine


@pytest.fixture
def here(tmp_path: Path) -> Path:
    plant(tmp_path / "here", {})
    return tmp_path / "here"


@pytest.fixture
def places(machine: Machine, here: Path, tmp_path: Path) -> tuple[SyncPlace, ...]:
    plant(tmp_path / "back", {})
    return (
        SyncPlace(name="here", url=f"file://{here}"),
        SyncPlace(name="back", url=f"file://{tmp_path}/back"),
        machine.place("far"),
    )


async def test_files_go_to_another_machine_and_come_back(
    places: tuple[SyncPlace, ...], machine: Machine, here: Path, tmp_path: Path
) -> None:
    plant(
        here,
        {
            "a.txt": b"a",
            "-rf/line\nbreak": b"b",
            "ünï cødé": b"c",
            os.fsdecode(b"\xff\xfe"): b"d",
            "x" * 255: b"e",
            "empty": b"",
            "large": os.urandom(3 * 1024 * 1024 + 7),
        },
    )

    there = result_of(await sync(places, from_="here:/", to="far:/new/folder"))
    again = result_of(await sync(places, from_="here:/", to="far:/new/folder"))
    back = result_of(await sync(places, from_="far:/new/folder", to="back:/", compare="checksum"))

    assert (there["copied"], again["copied"], again["skipped"]) == (7, 0, 7)
    assert back["copied"] == 7
    assert tree_of(machine.root / "new/folder") == tree_of(tmp_path / "back") == tree_of(here)
    assert int((machine.root / "new/folder/a.txt").stat().st_mtime) == 1_700_000_000


async def test_a_mirror_makes_the_other_machine_equal(
    places: tuple[SyncPlace, ...], machine: Machine, here: Path
) -> None:
    plant(here, {"a/b/c": b"1", "x": b"2", "kept": b"3", "changed": b"new", "empty": b"4"})
    plant(machine.root, {"a": b"4", "x/deep/file": b"5", "kept": b"3", "changed": b"old!"})
    plant(machine.root, {f"{TEMPORARY_PREFIX}{RecordingContext().run_id.hex}-1-1": b"half"})
    (machine.root / "empty/nothing").mkdir(parents=True)

    context = RecordingContext(attempt=2)
    result = result_of(
        await sync(places, context, from_="here:/", to="far:/", mode="mirror", compare="checksum")
    )

    assert (result["copied"], result["skipped"], result["deleted"]) == (4, 1, 2)
    assert tree_of(machine.root) == tree_of(here)


async def test_a_changed_file_replaces_the_one_that_is_there(
    places: tuple[SyncPlace, ...], machine: Machine, here: Path
) -> None:
    plant(here, {"a": b"new"})
    plant(machine.root, {"a": b"old and longer"})

    await sync(places, from_="here:/", to="far:/")

    assert tree_of(machine.root) == {"a": b"new"}


async def test_links_of_the_other_machine_are_not_followed(
    places: tuple[SyncPlace, ...], machine: Machine, here: Path, tmp_path: Path
) -> None:
    plant(machine.root, {"inside/file": b"x", "dir/real": b"y"})
    (machine.root / "door").symlink_to("inside")
    (machine.root / "dir/link").symlink_to("../inside/file")
    plant(here, {"door/written": b"z"})

    through = await sync(places, from_="far:/door", to="back:/")
    into = await sync(places, from_="here:/", to="far:/")
    beside = result_of(await sync(places, from_="far:/dir", to="back:/"))

    assert isinstance(through, Failed)
    assert through.final
    assert isinstance(into, Failed)
    assert "door/written: blocked by a file or link in the target" in into.failure.message
    assert beside["links"] == 1
    assert tree_of(tmp_path / "back") == {"real": b"y"}
    assert tree_of(machine.root / "inside") == {"file": b"x"}


async def test_a_machine_that_lies_about_names_writes_nowhere_else(
    here: Path, tmp_path: Path
) -> None:
    plant(tmp_path / "far", {"good": b"x"})

    class Lying(asyncssh.SFTPServer):
        async def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
            async for one in super().scandir(path):
                yield one
            attrs = asyncssh.SFTPAttrs(permissions=0o100644, size=1, mtime=0)
            yield asyncssh.SFTPName(b"../../evil", attrs=attrs)
            yield asyncssh.SFTPName(b"/etc/evil", attrs=attrs)

    async with sftp_machine(tmp_path / "far", tmp_path, Lying) as machine:
        places = (SyncPlace(name="here", url=f"file://{here}"), machine.place("far"))

        outcome = await sync(places, from_="far:/", to="here:/deep/er")

    assert isinstance(outcome, Failed)
    assert outcome.failure.message.count("invalid file name") == 2
    assert tree_of(here) == {"deep/er/good": b"x"}


async def test_what_may_not_be_read_stops_nothing_but_the_deleting(
    here: Path, tmp_path: Path
) -> None:
    plant(tmp_path / "far", {"a": b"a", "closed": b"?", "shut/b": b"?", "z": b"z"})
    plant(here, {"shut/b": b"perhaps the last copy", "extra": b"x"})

    class Strict(asyncssh.SFTPServer):
        async def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
            if path.endswith(b"shut"):
                raise asyncssh.SFTPPermissionDenied("not for you")
            async for one in super().scandir(path):
                yield one

        def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> object:
            if path.endswith(b"closed"):
                raise asyncssh.SFTPPermissionDenied("not for you")
            return super().open(path, pflags, attrs)

    async with sftp_machine(tmp_path / "far", tmp_path, Strict) as machine:
        places = (SyncPlace(name="here", url=f"file://{here}"), machine.place("far"))

        outcome = await sync(places, from_="far:/", to="here:/", mode="mirror")

    assert isinstance(outcome, Failed)
    assert not outcome.final
    assert "shut: cannot be listed in far:/: not for you" in outcome.failure.message
    assert "closed: not for you" in outcome.failure.message
    assert tree_of(here) == {
        "a": b"a",
        "extra": b"x",
        "shut/b": b"perhaps the last copy",
        "z": b"z",
    }


async def test_a_machine_with_another_key_gets_nothing(machine: Machine, here: Path) -> None:
    stranger = machine.place("far", host_keys=(f"SHA256:{'A' * 43}",))

    outcome = await sync(
        (SyncPlace(name="here", url=f"file://{here}"), stranger), from_="here:/", to="far:/"
    )

    assert isinstance(outcome, Failed)
    assert (outcome.final, outcome.failure.type) == (True, "wrong host key")


async def test_wrong_credentials_fail_at_once_and_tell_no_secret(
    machine: Machine, here: Path
) -> None:
    wrong = machine.place("far", key_file=None, secret="canary-password")
    context = RecordingContext()

    outcome = await sync(
        (SyncPlace(name="here", url=f"file://{here}"), wrong), context, from_="here:/", to="far:/"
    )

    assert isinstance(outcome, Failed)
    assert (outcome.final, outcome.failure.type) == (True, "not permitted")
    assert "canary-password" not in repr(outcome) + context.all_output


async def test_a_key_that_cannot_be_read_is_named(machine: Machine, here: Path) -> None:
    keyless = machine.place("far", key_file="/nowhere/id")

    outcome = await sync(
        (SyncPlace(name="here", url=f"file://{here}"), keyless), from_="here:/", to="far:/"
    )

    assert isinstance(outcome, Failed)
    assert outcome.failure.message.startswith("key_file of the place far")


async def test_a_key_may_have_a_passphrase(machine: Machine, here: Path) -> None:
    key = asyncssh.import_private_key(machine.key_file.read_bytes())
    machine.key_file.write_bytes(key.export_private_key("pkcs8-pem", passphrase="open sesame"))
    plant(here, {"a": b"a"})

    result = await sync(
        (SyncPlace(name="here", url=f"file://{here}"), machine.place("far", secret="open sesame")),
        from_="here:/",
        to="far:/",
    )

    assert result_of(result)["copied"] == 1


async def test_a_machine_that_is_away_is_asked_again_later(machine: Machine, here: Path) -> None:
    place = machine.place("far")
    machine.server.close()
    await machine.server.wait_closed()

    outcome = await sync(
        (SyncPlace(name="here", url=f"file://{here}"), place), from_="here:/", to="far:/"
    )

    assert isinstance(outcome, Failed)
    assert (outcome.final, outcome.failure.type) == (False, "place not reached")


async def test_a_folder_that_the_machine_has_not_fails_at_once(
    machine: Machine, here: Path
) -> None:
    outcome = await sync(
        (SyncPlace(name="here", url=f"file://{here}"), machine.place("far", "/no/such")),
        from_="here:/",
        to="far:/",
    )

    assert isinstance(outcome, Failed)
    assert (outcome.final, outcome.failure.type) == (True, "place not usable")


async def test_a_lost_connection_ends_the_attempt_and_is_tried_again(
    places: tuple[SyncPlace, ...], machine: Machine, here: Path
) -> None:
    plant(here, {"large": bytes(8 * 1024 * 1024), "other": b"x"})

    class Cutting(HookedContext):
        def hook(self) -> None:
            for connection in machine.connections:
                connection.abort()

    lost = await sync(places, Cutting(), from_="here:/", to="far:/", parallel=1)
    after = tree_of(machine.root)
    again = await sync(places, RecordingContext(attempt=2), from_="here:/", to="far:/")

    assert isinstance(lost, Failed)
    assert (lost.final, lost.failure.type) == (False, "connection lost")
    assert "large" not in after
    assert result_of(again)["copied"] == 2
    assert tree_of(machine.root) == tree_of(here)


async def test_a_cancelled_copy_leaves_no_half_file(
    places: tuple[SyncPlace, ...], machine: Machine, here: Path
) -> None:
    plant(here, {"large": bytes(32 * 1024 * 1024)})

    was_cancelled = await cancelled_midway(places, from_="here:/", to="far:/")

    assert was_cancelled
    assert "large" not in tree_of(machine.root)


async def test_a_copy_to_a_machine_that_stopped_answering_can_be_cancelled(
    here: Path, tmp_path: Path
) -> None:
    plant(here, {"a": b"a", "b": b"b"})
    plant(tmp_path / "far", {})
    stuck, never = asyncio.Event(), asyncio.Event()

    class Stuck(asyncssh.SFTPServer):
        async def write(self, file_obj: object, offset: int, data: bytes) -> int:
            del file_obj, offset
            stuck.set()
            await never.wait()
            return len(data)

    async with sftp_machine(tmp_path / "far", tmp_path, Stuck) as machine:
        places = (SyncPlace(name="here", url=f"file://{here}"), machine.place("far"))
        copying = asyncio.create_task(sync(places, from_="here:/", to="far:/"))
        await stuck.wait()
        copying.cancel()
        await asyncio.wait([copying], timeout=30)
        never.set()

    assert copying.cancelled()
    assert not [name for name in tree_of(tmp_path / "far") if not name.startswith(TEMPORARY_PREFIX)]


async def test_it_understands_a_server_that_is_not_of_its_own_kind(
    here: Path, tmp_path: Path, machine: Machine
) -> None:
    plant(here, {"a/b": b"1", "ünï": b"2"})
    plant(tmp_path / "go", {"a/old": b"x"})
    host = asyncssh.generate_private_key("ssh-ed25519")
    (tmp_path / "host").write_bytes(host.export_private_key())
    options = ["--user", "copier", "--pass", "word", "--key", str(tmp_path / "host")]
    with rclone("sftp", *options, str(tmp_path / "go")) as port:
        place = SyncPlace(
            name="go",
            url=f"sftp://copier@127.0.0.1:{port}/",
            secret="word",
            host_keys=(host.get_fingerprint(),),
        )

        result = await sync(
            (SyncPlace(name="here", url=f"file://{here}"), place),
            from_="here:/",
            to="go:/",
            mode="mirror",
        )

    assert result_of(result)["deleted"] == 1
    assert tree_of(tmp_path / "go") == tree_of(here)


async def test_from_a_machine_straight_to_an_object_store(machine: Machine, tmp_path: Path) -> None:
    plant(machine.root, {"a/b": b"1", "c": b"2"})
    with object_store(tmp_path / "store") as store:
        places = (machine.place("far"), store.place("bucket"))

        first = result_of(await sync(places, from_="far:/", to="bucket:/"))
        second = result_of(await sync(places, from_="far:/", to="bucket:/"))

    assert (first["copied"], second["skipped"]) == (2, 2)
    assert tree_of(tmp_path / "store/bucket") == tree_of(machine.root)
