"""Copying to and from an object store that speaks S3 (E17)."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.storing import (
    SECRET,
    HookedContext,
    Store,
    cancelled_midway,
    object_store,
    plant,
    result_of,
    sync,
    tree_of,
)

from rota.core.outcome import Failed
from rota.executors.sync import SyncPlace
from rota.executors.sync.object_tree import PART_BYTES
from rota.sdk.testing import RecordingContext


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Store]:
    """A store for each test: it remembers folders that it has seen, so what is put there behind its
    back has to be there first.
    """
    with object_store(tmp_path / "store") as store:
        yield store


@pytest.fixture
def there(running: Store) -> Path:
    """The folder behind the place."""
    return running.root / "bucket/prefix"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    plant(tmp_path / "here", {})
    return tmp_path / "here"


@pytest.fixture
def places(running: Store, here: Path, tmp_path: Path) -> tuple[SyncPlace, ...]:
    plant(tmp_path / "back", {})
    return (
        SyncPlace(name="here", url=f"file://{here}"),
        SyncPlace(name="back", url=f"file://{tmp_path}/back"),
        running.place("bucket", "s3://bucket/prefix"),
    )


async def test_files_go_to_a_bucket_and_come_back_with_their_times(
    places: tuple[SyncPlace, ...], here: Path, tmp_path: Path, there: Path
) -> None:
    plant(here, {"a.txt": b"a", "ünï cødé/%41 b.txt": b"b", "-dash": b"c", "empty": b""})
    os.utime(here / "a.txt", ns=(0, 1_700_000_000_123_456_789))

    first = result_of(await sync(places, from_="here:/", to="bucket:/deep"))
    again = result_of(await sync(places, from_="here:/", to="bucket:/deep"))
    back = result_of(await sync(places, from_="bucket:/deep", to="back:/"))
    back_again = result_of(await sync(places, from_="bucket:/deep", to="back:/"))

    assert (first["copied"], first["bytes"]) == (4, 3)
    assert (again["copied"], again["skipped"]) == (0, 4)
    assert (back["copied"], back_again["copied"], back_again["skipped"]) == (4, 0, 4)
    assert tree_of(tmp_path / "back") == tree_of(here)
    assert tree_of(there / "deep") == tree_of(here)
    assert (tmp_path / "back/a.txt").stat().st_mtime_ns == 1_700_000_000_123_456_789


async def test_a_token_of_the_environment_is_not_mixed_with_the_key_of_a_place(
    places: tuple[SyncPlace, ...], here: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-another-account")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "another-account")
    plant(here, {"a": b"a"})

    result = result_of(await sync(places, from_="here:/", to="bucket:/"))

    assert result["copied"] == 1
    assert tree_of(there) == tree_of(here)


async def test_a_change_of_the_same_size_is_copied(
    places: tuple[SyncPlace, ...], here: Path, there: Path
) -> None:
    plant(here, {"a": b"one", "b": b"same"})
    await sync(places, from_="here:/", to="bucket:/")
    (here / "a").write_bytes(b"two")

    result = result_of(await sync(places, from_="here:/", to="bucket:/"))

    assert (result["copied"], result["skipped"]) == (1, 1)
    assert tree_of(there)["a"] == b"two"


async def test_a_large_file_is_sent_in_parts_and_checked(
    places: tuple[SyncPlace, ...], here: Path, there: Path, tmp_path: Path
) -> None:
    plant(here, {"large": os.urandom(1024) * (PART_BYTES // 1024) + b"rest"})

    first = result_of(await sync(places, from_="here:/", to="bucket:/", compare="checksum"))
    again = result_of(await sync(places, from_="here:/", to="bucket:/", compare="checksum"))
    back = result_of(await sync(places, from_="bucket:/", to="back:/", compare="checksum"))

    assert (first["copied"], again["copied"], back["copied"]) == (1, 0, 1)
    assert tree_of(tmp_path / "back") == tree_of(here)


async def test_a_checksum_sees_what_somebody_else_put_there(
    places: tuple[SyncPlace, ...], here: Path, there: Path
) -> None:
    plant(here, {"a": b"one"})
    plant(there, {"a": b"two"})
    os.utime(there / "a")

    by_time = result_of(await sync(places, from_="here:/", to="bucket:/"))
    by_sum = result_of(await sync(places, from_="here:/", to="bucket:/", compare="checksum"))

    assert (by_time["skipped"], by_sum["copied"]) == (1, 1)


async def test_a_mirror_of_a_bucket_deletes(
    places: tuple[SyncPlace, ...], here: Path, there: Path
) -> None:
    plant(here, {"a/b": b"1", "c": b"2"})
    plant(there.parent, {"prefix/a/old": b"x", "prefix/c": b"other", "outside": b"z"})

    result = result_of(await sync(places, from_="here:/", to="bucket:/", mode="mirror"))

    assert result["deleted"] == 1
    assert tree_of(there) == tree_of(here)
    assert (there.parent / "outside").read_bytes() == b"z"


async def test_a_name_that_no_store_can_hold_is_told_and_the_others_go_on(
    places: tuple[SyncPlace, ...], here: Path, there: Path
) -> None:
    plant(here, {"line\nbreak": b"1", os.fsdecode(b"\xff"): b"2", "good": b"3"})

    outcome = await sync(places, from_="here:/", to="bucket:/")

    assert isinstance(outcome, Failed)
    assert outcome.failure.message.startswith("2 files could not be copied, 1 copied: ")
    assert "line\\nbreak: object stores do not support this file name" in outcome.failure.message
    assert tree_of(there) == {"good": b"3"}


async def test_a_file_that_changes_while_it_is_sent_never_appears_half(
    places: tuple[SyncPlace, ...], here: Path, there: Path
) -> None:
    plant(here, {"large": bytes(PART_BYTES + 1024)})

    class Meddling(HookedContext):
        def hook(self) -> None:
            if len(self.progress_reports) == 1:
                with (here / "large").open("ab") as file:
                    file.write(b"more")

    result = result_of(await sync(places, Meddling(), from_="here:/", to="bucket:/"))

    assert result["copied"] == 1
    assert tree_of(there) == tree_of(here)


async def test_a_cancelled_upload_leaves_nothing_under_a_real_name(
    places: tuple[SyncPlace, ...], here: Path, there: Path
) -> None:
    plant(here, {"large": bytes(2 * PART_BYTES)})

    was_cancelled = await cancelled_midway(places, from_="here:/", to="bucket:/")

    assert was_cancelled
    assert tree_of(there.parent) == {}


@pytest.mark.parametrize(
    ("url", "settings", "why"),
    [
        ("s3://bucket/", {"secret": "wrong"}, ("not permitted", "place not usable")),
        ("s3://bucket/", {"account": "unknown"}, ("not permitted", "place not usable")),
        ("s3://no-such-bucket/", {}, ("place not usable",)),
    ],
)
async def test_wrong_credentials_and_buckets_fail_at_once_and_tell_no_secret(
    running: Store, here: Path, url: str, settings: dict[str, str], why: tuple[str, ...]
) -> None:
    places = (
        SyncPlace(name="here", url=f"file://{here}"),
        running.place("bucket", url, **settings),
    )
    plant(here, {"a": b"a"})
    context = RecordingContext()

    outcome = await sync(places, context, from_="here:/", to="bucket:/")

    assert isinstance(outcome, Failed)
    assert outcome.failure.type in why, outcome
    assert outcome.final
    assert SECRET not in repr(outcome) + context.all_output


async def test_a_store_that_is_away_is_asked_again_later(here: Path) -> None:
    away = SyncPlace(
        name="away",
        url="s3://bucket/",
        endpoint="http://127.0.0.1:1",
        account="id",
        secret=SECRET,
    )

    outcome = await sync(
        (SyncPlace(name="here", url=f"file://{here}"), away), from_="here:/", to="away:/"
    )

    assert isinstance(outcome, Failed)
    assert not outcome.final
    assert outcome.failure.type == "store not reached"
    assert SECRET not in outcome.failure.message
