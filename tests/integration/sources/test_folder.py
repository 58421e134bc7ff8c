"""Files become events once they are whole, and each once (S7)."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.event_places import Folder

from rota.core.errors import InvalidInput
from rota.core.source import Batch
from rota.sources.folder.source import FolderSource, make, read_options

SOON = timedelta(0)


class Now:
    """Seconds that the test moves."""

    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


async def names(source: FolderSource) -> list[str]:
    batch = await source.read(limit=10, within=SOON)
    if batch.position is not None:
        await source.acknowledge(batch.position)
    return [message.body["name"] for message in batch.messages]


async def test_a_file_that_still_grows_is_left_alone(folder: Folder) -> None:
    now = Now()
    source = FolderSource(read_options({"path": str(folder.path), "settle": "5s"}), now=now)
    await source.open(None)
    file = folder.path / "report.csv"
    file.write_text("one")

    assert await names(source) == []
    now.seconds += 4
    file.write_text("one,two")
    assert await names(source) == []
    now.seconds += 4
    assert await names(source) == []
    now.seconds += 1
    assert await names(source) == ["report.csv"]
    now.seconds += 100
    assert await names(source) == []


async def test_unfinished_hidden_and_other_names_links_and_folders_are_no_files(
    folder: Folder,
) -> None:
    for name in (".hidden.csv", "a.csv.tmp", "a.csv.part", "a.txt"):
        (folder.path / name).write_text("x")
    (folder.path / "b.csv").mkdir()
    (folder.path / "c.csv").symlink_to("/etc/passwd")
    (folder.path / "good.csv").write_text("x")
    source = make({**folder.options(), "pattern": "*.csv"})
    await source.open(None)

    assert await names(source) == ["good.csv"]


async def test_a_file_that_is_replaced_is_another_event(folder: Folder) -> None:
    source = make(folder.options())
    await source.open(None)
    file = folder.path / "rates.json"
    file.write_text("{}")
    first = (await source.read(limit=10, within=SOON)).messages[0]
    await names(source)

    file.write_text('{"eur": 1}')
    (second,) = (await source.read(limit=10, within=SOON)).messages

    assert first.id != second.id
    assert (first.body["size"], second.body["size"]) == (2, 10)
    assert second.body["path"] == str(file)


async def test_a_file_moved_in_with_an_old_date_is_new_all_the_same(
    folder: Folder, tmp_path: Path
) -> None:
    source = make(folder.options())
    await source.open(None)
    await folder.put("now")
    await names(source)
    old = tmp_path / "old"
    old.write_text("x")
    os.utime(old, (1, 1))

    old.rename(folder.path / "old")

    assert await names(source) == ["old"]


async def test_what_was_taken_is_moved_once_it_is_acknowledged_and_not_before(
    folder: Folder,
) -> None:
    done = folder.path / "done"
    source = make({**folder.options(), "done": str(done)})
    await source.open(None)
    (folder.path / "a.csv").write_text("x")

    batch = await source.read(limit=10, within=SOON)
    assert (folder.path / "a.csv").exists()
    await source.acknowledge(batch.position or "")

    assert not (folder.path / "a.csv").exists()
    (moved,) = done.iterdir()
    assert moved.read_text() == "x"
    assert batch.messages[0].body["done_path"] == str(moved)


async def test_a_file_that_came_under_the_same_name_meanwhile_is_not_moved_away(
    folder: Folder,
) -> None:
    source = make({**folder.options(), "done": str(folder.path / "done")})
    await source.open(None)
    file = folder.path / "a.csv"
    file.write_text("first")
    batch = await source.read(limit=10, within=SOON)

    file.write_text("second, longer")
    await source.acknowledge(batch.position or "")
    again = await source.read(limit=10, within=SOON)

    assert file.read_text() == "second, longer"
    assert [message.body["size"] for message in again.messages] == [14]


async def test_a_name_that_is_no_text_can_be_told_all_the_same(folder: Folder) -> None:
    (folder.path / os.fsdecode(b"\xff.csv")).write_text("x")
    source = make(folder.options())
    await source.open(None)

    assert await names(source) == ["\\xff.csv"]


async def test_a_thousand_files_and_more_are_remembered_in_a_short_position(
    folder: Folder,
) -> None:
    for number in range(1100):
        (folder.path / str(number)).touch()
    source = make(folder.options())
    await source.open(None)
    taken, position = 0, None
    while (batch := await source.read(limit=400, within=SOON)) != Batch():
        position = batch.position or ""
        await source.acknowledge(position)
        taken += len(batch.messages)

    assert taken == 1100
    assert len(position or "") < 32 * 1024


async def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    source = make({"path": str(tmp_path / "none")})

    with pytest.raises(FileNotFoundError):
        await source.open(None)


async def test_a_done_folder_on_another_disk_is_refused(folder: Folder) -> None:
    elsewhere = Path("/dev/shm") / f"rota-{os.getpid()}"
    source = make({**folder.options(), "done": str(elsewhere)})

    try:
        with pytest.raises(InvalidInput) as refusal:
            await source.open(None)
    finally:
        elsewhere.rmdir()

    assert refusal.value.field == "done"
