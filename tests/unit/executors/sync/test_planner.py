"""Listings become plans, sorted on disk when they are long."""

import os
import random

import pytest

from rota.executors.sync import spool
from rota.executors.sync.planner import SyncComparison, SyncPlan, SyncPlanner, new_listing
from rota.executors.sync.tree import TreeEntry, is_safe_path


def plan_of(sources: list[TreeEntry], targets: list[TreeEntry], **how: bool) -> SyncPlan:
    here, there = new_listing(), new_listing()
    here.add(sources)
    there.add(targets)
    usual = {"mirror": False, "checksum": False, "nests": True, **how}
    planner = SyncPlanner(SyncComparison(grain=1000, **usual))
    for _ in planner.build_plan(here, there):
        pass
    here.close()
    there.close()
    return planner.plan


def entry(path: str, size: int = 1, mtime: int | None = 0) -> TreeEntry:
    return TreeEntry(path, size, mtime)


def test_only_what_is_new_or_other_is_copied() -> None:
    plan = plan_of(
        [entry("new"), entry("same"), entry("longer", 2), entry("later", mtime=5000)],
        [entry("same", mtime=900), entry("longer"), entry("later"), entry("extra")],
    )

    assert [step.path for step in plan.steps] == ["later", "longer", "new"]
    assert (plan.same, plan.removals.count, plan.bytes) == (1, 0, 4)


def test_a_mirror_removes_what_the_source_has_not() -> None:
    plan = plan_of([entry("a")], [entry("a"), entry("b"), entry("c/d")], mirror=True)

    assert [removal.path for removal in plan.removals] == ["b", "c/d"]


def test_what_only_looking_can_tell_is_looked_at() -> None:
    by_sum = plan_of([entry("a")], [entry("a")], checksum=True)
    by_time = plan_of([entry("a")], [entry("a", mtime=None)])

    assert [step.is_check for plan in (by_sum, by_time) for step in plan.steps] == [True, True]


def test_a_copy_that_something_is_in_the_way_of_comes_after_that_is_removed() -> None:
    plan = plan_of(
        [entry("a/b/c"), entry("a/z"), entry("a-b"), entry("x"), entry("y")],
        [entry("a"), entry("x/deep/file"), entry("x-y"), entry("y")],
        mirror=True,
    )

    assert [step.path for step in plan.late] == ["a/b/c", "a/z", "x"]
    assert [removal.path for removal in plan.obstacles] == ["a", "x/deep/file"]
    assert [removal.path for removal in plan.removals] == ["x-y"]
    assert [step.path for step in plan.steps] == ["a-b"]


def test_an_object_store_has_room_for_a_file_and_a_folder_of_one_name() -> None:
    plan = plan_of([entry("a/b")], [entry("a")], mirror=True, nests=False)

    assert plan.late.count == 0


def test_a_file_that_is_listed_twice_is_copied_once() -> None:
    plan = plan_of([entry("a"), entry("a"), entry("b")], [])

    assert [step.path for step in plan.steps] == ["a", "b"]


def test_long_listings_are_sorted_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "SPOOL_PIECE_VALUES", 10)
    monkeypatch.setattr(spool, "MERGED_FILES_MAX", 4)
    names = [f"{number % 7}/{number}\udcff\n é" for number in range(500)]
    shuffled = random.Random(7).sample(names, len(names))
    listing = new_listing()

    for start in range(0, 500, 9):
        listing.add(entry(name) for name in shuffled[start : start + 9])
    found = [one.path for one in listing]
    listing.close()

    assert listing.count == 500
    assert found == sorted(names, key=lambda name: os.fsencode(name).replace(b"/", b"\0"))


def test_long_plans_keep_their_order_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "SPOOL_PIECE_VALUES", 10)

    plan = plan_of([entry(f"{number:04}") for number in range(105)], [])

    assert [step.path for step in plan.steps] == [f"{number:04}" for number in range(105)]
    assert next(iter(plan.steps)).path == "0000"
    plan.close()


@pytest.mark.parametrize("path", ["", "..", "a/../b", "a//b", "./a", "/a", "a/", "a\0b"])
def test_a_path_that_leads_elsewhere_is_no_path(path: str) -> None:
    assert not is_safe_path(path)
