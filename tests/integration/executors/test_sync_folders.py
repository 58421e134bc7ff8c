"""Copying and mirroring between folders of this machine (E17)."""

import contextlib
import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.support.storing import HookedContext, cancelled_midway, plant, result_of, sync, tree_of

from rota.config.loader import load_settings
from rota.core.errors import InvalidSetting
from rota.core.outcome import Failed, Succeeded
from rota.executors.sync import SyncExecutor, SyncPlace
from rota.executors.sync.tree import TEMPORARY_PREFIX
from rota.processes.executor_factory import build_executor_factory
from rota.runtime.clock import SystemClock
from rota.sdk.testing import RecordingContext

ODD = {
    "-rf": b"dash",
    "line\nbreak": b"newline",
    "tab\tand \x1b[31m": b"control",
    "ünï cødé 文字 🙂": b"unicode",
    "e\u0301 and \u00e9": b"normal forms",
    "back\\slash 'quote\" $(x) %41 #?*": b"shell",
    " leading and trailing ": b"blanks",
    "x" * 255: b"as long as names get",
    "/".join(["d" * 200] * 30) + "/deep": b"longer than PATH_MAX",
    "empty": b"",
    "empty folder of its own/.keep": b"",
}


@pytest.fixture
def places(tmp_path: Path) -> tuple[SyncPlace, SyncPlace]:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    return (
        SyncPlace(name="here", url=f"file://{tmp_path}/here"),
        SyncPlace(name="there", url=f"file://{tmp_path}/there"),
    )


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path / "here"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "there"


async def test_only_what_changed_is_copied_again(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a.txt": b"a", "b/c.txt": b"c", "b/d.txt": b"d"})
    first = result_of(await sync(places, from_="here:/", to="there:/new/folder"))
    (here / "b/d.txt").write_bytes(b"D")

    second = result_of(await sync(places, from_="here:/", to="there:/new/folder"))

    assert (first["copied"], first["skipped"], first["bytes"]) == (3, 0, 3)
    assert (second["copied"], second["skipped"], second["bytes"]) == (1, 2, 1)
    assert tree_of(there / "new/folder") == tree_of(here)
    assert (there / "new/folder/a.txt").stat().st_mtime_ns == 1_700_000_000 * 10**9


async def test_a_copy_leaves_what_the_source_has_not(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a": b"a"})
    plant(there, {"extra": b"x"})

    result = result_of(await sync(places, from_="here:/", to="there:/"))

    assert result["deleted"] == 0
    assert tree_of(there) == {"a": b"a", "extra": b"x"}


async def test_a_mirror_deletes_what_the_source_has_not(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a": b"a"})
    plant(there, {"extra": b"x", "old/deep/file": b"x"})

    result = result_of(await sync(places, from_="here:/", to="there:/", mode="mirror"))

    assert result["deleted"] == 2
    assert tree_of(there) == {"a": b"a"}
    assert not (there / "old").exists()


async def test_odd_names_arrive_as_they_are(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    short = {path: content for path, content in ODD.items() if len(path) < 1000}
    plant(here, short)
    plant_deep(here, ODD)
    plant(here, {os.fsdecode(b"\xff\xfe"): b"bytes"})
    context = RecordingContext()

    result = result_of(await sync(places, context, from_="here:/", to="there:/"))

    assert result["copied"] == len(ODD) + 1
    assert read_deep(there) == b"longer than PATH_MAX"
    assert {path: (there / path).read_bytes() for path in short} == short
    assert (there / os.fsdecode(b"\xff\xfe")).read_bytes() == b"bytes"
    assert len(context.all_output.splitlines()) == len(ODD) + 1
    json.dumps(result).encode()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def plant_deep(root: Path, files: dict[str, bytes]) -> None:
    deep = next(path for path in files if len(path) > 1000)
    with contextlib.chdir(root):
        *folders, name = deep.split("/")
        for folder in folders:
            Path(folder).mkdir()
            os.chdir(folder)
        Path(name).write_bytes(files[deep])


def read_deep(root: Path) -> bytes:
    deep = next(path for path in ODD if len(path) > 1000)
    with contextlib.chdir(root):
        *folders, name = deep.split("/")
        for folder in folders:
            os.chdir(folder)
        return Path(name).read_bytes()


async def test_links_lead_nobody_out_of_a_place(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path, tmp_path: Path
) -> None:
    plant(tmp_path / "outside", {"secret": b"not yours"})
    plant(here, {"a": b"a", "dir/b": b"b", "link": b"a file here"})
    (here / "to-file").symlink_to(tmp_path / "outside/secret")
    (here / "to-folder").symlink_to(tmp_path / "outside")
    (there / "dir").symlink_to(tmp_path / "outside")
    (there / "link").symlink_to(tmp_path / "outside/secret")

    outcome = await sync(places, from_="here:/", to="there:/")

    assert isinstance(outcome, Failed)
    assert "dir/b: blocked by a file, folder or link in the target" in outcome.failure.message
    assert tree_of(tmp_path / "outside") == {"secret": b"not yours"}
    assert (there / "link").read_bytes() == b"a file here"
    assert names_in(there) == ["a", "dir", "link"]


async def test_a_path_of_a_payload_cannot_go_through_a_link(
    places: tuple[SyncPlace, SyncPlace], here: Path, tmp_path: Path
) -> None:
    plant(tmp_path / "outside", {"secret": b"not yours"})
    (here / "door").symlink_to(tmp_path / "outside")

    outcome = await sync(places, from_="here:/door", to="there:/")

    assert isinstance(outcome, Failed)
    assert outcome.final
    assert outcome.failure.type == "folder not usable"


async def test_pipes_and_sockets_are_left_alone(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a": b"a"})
    os.mkfifo(here / "pipe")
    with contextlib.chdir(here), socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")

        await sync(places, from_="here:/", to="there:/")

    assert tree_of(there) == {"a": b"a"}


async def test_the_same_size_and_time_hide_a_change_that_a_checksum_sees(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a": b"one", "b": b"same"})
    plant(there, {"a": b"two", "b": b"same"})

    by_time = result_of(await sync(places, from_="here:/", to="there:/"))
    by_sum = result_of(await sync(places, from_="here:/", to="there:/", compare="checksum"))

    assert (by_time["copied"], by_sum["copied"], by_sum["skipped"]) == (0, 1, 1)
    assert tree_of(there) == tree_of(here)


async def test_patterns_choose_what_is_copied_and_protect_what_is_not(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a.jpg": b"a", "b/c.jpg": b"c", "b/c.txt": b"t", "tmp/d.jpg": b"d"})
    plant(there, {"old.jpg": b"o", "notes.txt": b"n", "tmp/e.jpg": b"e"})

    await sync(
        places,
        from_="here:/",
        to="there:/",
        mode="mirror",
        include=["**/*.jpg"],
        exclude=["tmp/**"],
    )

    assert sorted(tree_of(there)) == ["a.jpg", "b/c.jpg", "notes.txt", "tmp/e.jpg"]


async def test_a_dry_run_tells_and_touches_nothing(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"new": b"new", "same": b"s"})
    plant(there, {"same": b"s", **{f"old{number:03}": b"x" for number in range(300)}})
    before = tree_of(there)

    result = result_of(
        await sync(places, from_="here:/", to="there:/", mode="mirror", dry_run=True)
    )

    assert (result["would_copy"], result["would_skip"], result["would_delete"]) == (1, 1, 300)
    assert result["copy"] == ["new"]
    assert (len(result["delete"]), result["truncated"]) == (200, True)
    assert "max_delete is 100" in result["refusal"]
    assert tree_of(there) == before


async def test_a_dry_run_to_a_folder_that_is_not_there_does_not_make_it(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a": b"a"})

    result = result_of(await sync(places, from_="here:/", to="there:/new", dry_run=True))

    assert result["would_copy"] == 1
    assert not (there / "new").exists()


async def test_a_mirror_that_would_delete_too_much_does_nothing_at_all(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"new": b"new"})
    plant(there, {"a": b"a", "b": b"b"})
    order: dict[str, Any] = {"from_": "here:/", "to": "there:/", "mode": "mirror"}

    refused = await sync(places, **order, max_delete=1)
    before = tree_of(there)
    allowed = await sync(places, **order, max_delete=2)

    assert isinstance(refused, Failed)
    assert refused.final
    assert "2 files of there:/ would be deleted, but max_delete is 1" in refused.failure.message
    assert before == {"a": b"a", "b": b"b"}
    assert isinstance(allowed, Succeeded)
    assert tree_of(there) == {"new": b"new"}


async def test_an_empty_source_empties_nothing_unless_that_is_allowed(
    places: tuple[SyncPlace, SyncPlace], there: Path
) -> None:
    plant(there, {"a": b"a"})
    order: dict[str, Any] = {"from_": "here:/", "to": "there:/", "mode": "mirror"}

    refused = await sync(places, **order)
    kept = tree_of(there)
    await sync(places, **order, allow_empty=True)

    assert isinstance(refused, Failed)
    assert "allow_empty" in refused.failure.message
    assert kept == {"a": b"a"}
    assert tree_of(there) == {}


async def test_one_bad_file_does_not_stop_the_others_and_nothing_is_deleted(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a": b"a", "blocked/b": b"b", "c": b"c"})
    plant(there, {"extra": b"x"})
    (there / "blocked").symlink_to(here)

    outcome = await sync(places, from_="here:/", to="there:/", mode="mirror")

    assert isinstance(outcome, Failed)
    assert not outcome.final
    assert outcome.failure.type == "files left behind"
    assert outcome.failure.message.startswith("1 file could not be copied, 2 copied: blocked/b")
    assert names_in(there) == ["a", "blocked", "c", "extra"]


async def test_a_list_of_what_went_wrong_is_bounded(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {f"{'x' * 100}/{number}": b"" for number in range(300)})
    (there / ("x" * 100)).symlink_to(here)

    outcome = await sync(places, from_="here:/", to="there:/")

    assert isinstance(outcome, Failed)
    assert outcome.failure.message.startswith("300 files could not be copied")
    assert outcome.failure.message.endswith("; and 280 more")
    assert len(outcome.failure.message) < 8000


async def test_a_file_that_changes_while_it_is_copied_is_copied_again(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a": bytes(3 * 1024 * 1024)})

    class Meddling(HookedContext):
        def hook(self) -> None:
            if len(self.progress_reports) == 1:
                with (here / "a").open("ab") as file:
                    file.write(b"more")

    result = result_of(await sync(places, Meddling(), from_="here:/", to="there:/"))

    assert result["copied"] == 1
    assert tree_of(there) == tree_of(here) == {"a": bytes(3 * 1024 * 1024) + b"more"}


async def test_a_file_that_never_stops_changing_is_reported_and_not_half_copied(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a": bytes(2 * 1024 * 1024), "b": b"b"})
    plant(there, {"a": b"what was there"})

    class Meddling(HookedContext):
        def hook(self) -> None:
            with (here / "a").open("ab") as file:
                file.write(b"more")

    executor = SyncExecutor(places, clock=Leaping())
    await executor.open()
    order = executor.read("sync", {"from": "here:/", "to": "there:/", "parallel": 1})
    outcome = await executor.run(order, Meddling())
    await executor.close()

    assert isinstance(outcome, Failed)
    assert "a: the file changed each time it was copied" in outcome.failure.message
    assert tree_of(there) == {"a": b"what was there", "b": b"b"}


class Leaping(SystemClock):
    """A second passes each time somebody looks, so that every chunk is told."""

    seen = 0.0

    def monotonic(self) -> float:
        self.seen += 1
        return self.seen


async def test_a_file_that_is_gone_when_its_turn_comes_is_no_failure(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a": b"a", "b": b"b"})

    class Meddling(HookedContext):
        def hook(self) -> None:
            (here / "b").unlink(missing_ok=True)

    result = result_of(await sync(places, Meddling(), from_="here:/", to="there:/", parallel=1))

    assert (result["copied"], result["vanished"]) == (1, 1)
    assert tree_of(there) == {"a": b"a"}


async def test_a_cancelled_copy_leaves_no_half_file(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"large": bytes(64 * 1024 * 1024)})
    plant(there, {"large": b"what was there"})

    was_cancelled = await cancelled_midway(places, from_="here:/", to="there:/")

    assert was_cancelled
    assert tree_of(there) == {"large": b"what was there"}


async def test_leftovers_are_removed_when_nobody_writes_to_them(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    context = RecordingContext(attempt=3)
    mine, other = context.run_id.hex, "0" * 32
    fresh = f"{TEMPORARY_PREFIX}{other}-1-1"
    plant(here, {"a": b"a", f"{TEMPORARY_PREFIX}{other}-9-9": b"of a run that writes here"})
    plant(
        there,
        {f"{TEMPORARY_PREFIX}{mine}-2-1": b"half", f"d/{TEMPORARY_PREFIX}{other}-1-2": b"old"},
    )
    (there / fresh).write_bytes(b"of a run at this moment")

    await sync(places, context, from_="here:/", to="there:/", mode="mirror")

    assert sorted(tree_of(there)) == [fresh, "a"]


async def test_a_file_and_a_folder_of_one_name_change_places_in_a_mirror(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a/b/c": b"1", "x": b"2", "empty": b"3"})
    plant(there, {"a": b"4", "x/deep/file": b"5"})
    (there / "empty/nothing/in it").mkdir(parents=True)

    result = result_of(await sync(places, from_="here:/", to="there:/", mode="mirror"))

    assert (result["copied"], result["deleted"]) == (3, 2)
    assert tree_of(there) == tree_of(here)


async def test_what_cannot_take_the_place_of_a_folder_keeps_the_rest_from_being_deleted(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"x": b"1"})
    plant(there, {"x/file": b"2", "extra": b"3"})
    (there / "x/link").symlink_to(here)

    outcome = await sync(places, from_="here:/", to="there:/", mode="mirror")

    assert isinstance(outcome, Failed)
    assert outcome.failure.message.endswith("x: blocked by a file, folder or link in the target")
    assert tree_of(there) == {"extra": b"3"}
    assert (there / "x/link").is_symlink()


async def test_in_a_copy_what_is_in_the_way_stays_and_is_told(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a/b": b"1", "x": b"2"})
    plant(there, {"a": b"3", "x/y": b"4"})

    outcome = await sync(places, from_="here:/", to="there:/")

    assert isinstance(outcome, Failed)
    assert outcome.failure.message.count("blocked by a file, folder or link in the target") == 2
    assert tree_of(there) == {"a": b"3", "x/y": b"4"}


@pytest.mark.parametrize(
    ("source", "why"), [("here:/nothing", "no such folder"), ("here:/file", "folder not usable")]
)
async def test_a_source_that_is_no_folder_fails_at_once(
    places: tuple[SyncPlace, SyncPlace], here: Path, source: str, why: str
) -> None:
    plant(here, {"file": b"x"})

    outcome = await sync(places, from_=source, to="there:/")

    assert isinstance(outcome, Failed)
    assert (outcome.final, outcome.failure.type) == (True, why)


async def test_a_place_that_is_not_there_fails_at_once_and_is_not_made(tmp_path: Path) -> None:
    places = (
        SyncPlace(name="here", url=f"file://{tmp_path}"),
        SyncPlace(name="unmounted", url=f"file://{tmp_path}-unmounted"),
    )

    outcome = await sync(places, from_="here:/", to="unmounted:/")

    assert isinstance(outcome, Failed)
    assert (outcome.final, outcome.failure.type) == (True, "place not usable")


async def test_two_places_that_are_one_folder_by_a_link_are_seen(tmp_path: Path) -> None:
    plant(tmp_path / "real", {"a": b"a"})
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    places = (
        SyncPlace(name="real", url=f"file://{tmp_path}/real"),
        SyncPlace(name="alias", url=f"file://{tmp_path}/alias"),
    )

    outcome = await sync(places, from_="real:/", to="alias:/inside")

    assert isinstance(outcome, Failed)
    assert outcome.failure.type == "folders overlap"


async def test_progress_counts_files_and_bytes(
    places: tuple[SyncPlace, SyncPlace], here: Path
) -> None:
    plant(here, {"a": bytes(2 * 1024 * 1024), "b": b"b"})
    context = RecordingContext()

    await sync(places, context, from_="here:/", to="there:/", parallel=1)

    fractions = [fraction for fraction, _ in context.progress_reports]
    assert fractions == sorted(fractions)
    assert context.progress_reports[-1] == (1.0, "2 of 2 files, 2.1 MB of 2.1 MB")


async def test_what_is_written_has_the_rights_of_new_files(
    places: tuple[SyncPlace, SyncPlace], here: Path, there: Path
) -> None:
    plant(here, {"a": b"a"})
    umask = os.umask(0o027)

    try:
        await sync(places, from_="here:/", to="there:/")
    finally:
        os.umask(umask)

    assert stat.S_IMODE((there / "a").stat().st_mode) == 0o640


def test_without_a_place_the_kind_is_off() -> None:
    assert SyncExecutor().kinds == ()


def test_a_worker_gets_its_places_from_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("from a file\n")
    monkeypatch.setenv("STORE_KEY_ID", "from a variable")
    config = tmp_path / "rota.toml"
    config.write_text(
        f"""
        [executors.places.photos]
        url = "file://{tmp_path}"
        read_only = true

        [executors.places.backup]
        url = "s3://bucket/photos"
        account = "${{STORE_KEY_ID}}"
        secret = "${{file:{tmp_path}/secret}}"
        """
    )

    made = build_executor_factory(load_settings(environment={}, file=config))()

    (syncing,) = [one for one in made if isinstance(one, SyncExecutor)]
    order = syncing.read("sync", {"from": "photos:/", "to": "backup:/"})
    assert syncing.kinds == ("sync",)
    assert (order.target.place.account, order.target.place.secret) == (
        "from a variable",
        "from a file",
    )
    assert "from a file" not in repr(order)


def test_a_place_that_is_wrong_keeps_the_worker_from_starting(tmp_path: Path) -> None:
    config = tmp_path / "rota.toml"
    config.write_text('[executors.places.far]\nurl = "sftp://me@host/"\nsecret = "${NO_SUCH}"\n')

    with pytest.raises(InvalidSetting) as refusal:
        build_executor_factory(load_settings(environment={}, file=config))()

    assert refusal.value.field == "executors.places.far.secret"
