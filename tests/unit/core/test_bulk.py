"""Bulk calls: a filter that means something, and a token that holds what was shown (E10)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from rota.core.bulk import (
    Promise,
    RunFilter,
    bounded,
    check_count,
    check_most,
    checked,
    promise,
    read_promise,
    refuse_more,
)
from rota.core.errors import Conflict, InvalidInput

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
MAIL = RunFilter(queue="mail", error="ValueError")
SAID = Promise(count=3, until=NOON)


def test_a_filter_that_means_everything_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one of"):
        checked(RunFilter())


@pytest.mark.parametrize(
    ("which", "field"),
    [
        (RunFilter(kind=""), "filter.kind"),
        (RunFilter(queue="a\x00b"), "filter.queue"),
        (RunFilter(error="x" * 201), "filter.error"),
        (RunFilter(since=datetime(2026, 7, 1)), "filter.since"),  # noqa: DTZ001 — the mistake
        (RunFilter(since=NOON, until=NOON), "filter.until"),
    ],
)
def test_a_filter_that_makes_no_sense_says_where(which: RunFilter, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked(which)

    assert refused.value.field == field


def test_a_token_says_what_was_promised() -> None:
    token = promise("drop", 1, MAIL, SAID)

    assert read_promise("drop", 1, MAIL, token) == SAID


@pytest.mark.parametrize(
    ("action", "tenant_id", "which"),
    [
        ("replay", 1, MAIL),
        ("drop", 2, MAIL),
        ("drop", 1, replace(MAIL, queue="post")),
        ("drop", 1, replace(MAIL, job_id=UUID(int=1))),
        ("drop", 1, replace(MAIL, until=NOON)),
    ],
)
def test_a_token_is_good_for_one_call_only(action: str, tenant_id: int, which: RunFilter) -> None:
    token = promise("drop", 1, MAIL, SAID)

    with pytest.raises(InvalidInput, match="token"):
        read_promise(action, tenant_id, which, token)


@pytest.mark.parametrize("change", ["4", "", "x", "-3", "3" * 30, "³"])
def test_a_token_cannot_be_made_to_promise_more(change: str) -> None:
    token = promise("drop", 1, MAIL, SAID)
    forged = change + token.removeprefix("3")

    with pytest.raises(InvalidInput, match="token"):
        read_promise("drop", 1, MAIL, forged)


@pytest.mark.parametrize("token", ["", ".", "..", "1.2.3.4", "0.0.", "everything"])
def test_a_token_that_is_none_is_refused(token: str) -> None:
    with pytest.raises(InvalidInput, match="token"):
        read_promise("drop", 1, MAIL, token)


def test_more_than_was_shown_is_a_conflict_and_fewer_are_not() -> None:
    refuse_more(3, SAID)
    refuse_more(0, SAID)

    with pytest.raises(Conflict, match="4 match now, 3 matched in the dry run"):
        refuse_more(4, SAID)


def test_a_bound_only_ever_narrows_a_filter() -> None:
    early, late = NOON - timedelta(hours=1), NOON + timedelta(hours=1)

    assert bounded(MAIL, NOON).until == NOON
    assert bounded(replace(MAIL, until=early), NOON).until == early
    assert bounded(replace(MAIL, until=late), NOON).until == NOON


def test_numbers_out_of_bounds_are_refused() -> None:
    assert check_count(100_000) == 100_000
    assert check_most(1) == 1
    with pytest.raises(InvalidInput, match="at most 100,000"):
        check_count(100_001)
    for most in (0, -1, 10_001):
        with pytest.raises(InvalidInput, match="most"):
            check_most(most)
