"""Bulk calls: a filter that means something, and a token that holds what was shown (E10)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from rota.core.bulk_operations import (
    BulkConfirmation,
    BulkRunFilter,
    check_batch_size,
    check_confirmation,
    check_count,
    check_filter,
    issue_token,
    limit_until,
    read_token,
)
from rota.core.errors import Conflict, InvalidInput

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
MAIL = BulkRunFilter(queue="mail", error="ValueError")
SAID = BulkConfirmation(count=3, until=NOON)


def test_a_filter_that_means_everything_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one of"):
        check_filter(BulkRunFilter())


@pytest.mark.parametrize(
    ("which", "field"),
    [
        (BulkRunFilter(kind=""), "filter.kind"),
        (BulkRunFilter(queue="a\x00b"), "filter.queue"),
        (BulkRunFilter(error="x" * 201), "filter.error"),
        (BulkRunFilter(since=datetime(2026, 7, 1)), "filter.since"),  # noqa: DTZ001 — the mistake
        (BulkRunFilter(since=NOON, until=NOON), "filter.until"),
    ],
)
def test_a_filter_that_makes_no_sense_says_where(which: BulkRunFilter, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_filter(which)

    assert refused.value.field == field


def test_a_token_says_what_was_promised() -> None:
    token = issue_token("drop", 1, MAIL, SAID)

    assert read_token("drop", 1, MAIL, token) == SAID


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
def test_a_token_is_good_for_one_call_only(
    action: str, tenant_id: int, which: BulkRunFilter
) -> None:
    token = issue_token("drop", 1, MAIL, SAID)

    with pytest.raises(InvalidInput, match="token"):
        read_token(action, tenant_id, which, token)


@pytest.mark.parametrize("change", ["4", "", "x", "-3", "3" * 30, "³"])
def test_a_token_cannot_be_made_to_promise_more(change: str) -> None:
    token = issue_token("drop", 1, MAIL, SAID)
    forged = change + token.removeprefix("3")

    with pytest.raises(InvalidInput, match="token"):
        read_token("drop", 1, MAIL, forged)


@pytest.mark.parametrize("token", ["", ".", "..", "1.2.3.4", "0.0.", "everything"])
def test_a_token_that_is_none_is_refused(token: str) -> None:
    with pytest.raises(InvalidInput, match="token"):
        read_token("drop", 1, MAIL, token)


def test_more_than_was_shown_is_a_conflict_and_fewer_are_not() -> None:
    check_confirmation(3, SAID)
    check_confirmation(0, SAID)

    with pytest.raises(Conflict, match="4 match now, 3 matched in the dry run"):
        check_confirmation(4, SAID)


def test_a_bound_only_ever_narrows_a_filter() -> None:
    early, late = NOON - timedelta(hours=1), NOON + timedelta(hours=1)

    assert limit_until(MAIL, NOON).until == NOON
    assert limit_until(replace(MAIL, until=early), NOON).until == early
    assert limit_until(replace(MAIL, until=late), NOON).until == NOON


def test_numbers_out_of_bounds_are_refused() -> None:
    assert check_count(100_000) == 100_000
    assert check_batch_size(1) == 1
    with pytest.raises(InvalidInput, match="at most 100,000"):
        check_count(100_001)
    for most in (0, -1, 10_001):
        with pytest.raises(InvalidInput, match="most"):
            check_batch_size(most)
