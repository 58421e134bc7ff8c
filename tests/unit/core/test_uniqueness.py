"""Uniqueness rules: what they say, and when a key is held (E16)."""

from datetime import timedelta

import pytest

from rota.core.errors import InvalidInput
from rota.core.uniqueness import (
    OnConflict,
    Standing,
    Unique,
    While,
    digest,
    from_plain,
    is_held,
    to_plain,
)


def test_a_rule_needs_only_its_key() -> None:
    assert from_plain({"key": "invoice:42"}) == Unique(
        key="invoice:42",
        held_while=While.LIVE,
        within=None,
        on_conflict=OnConflict.RETURN,
    )


def test_a_rule_says_all_of_itself_and_is_read_back() -> None:
    plain = {"key": "k:{args.id}", "while": "queued", "within": "1h", "on_conflict": "replace"}

    rule = from_plain(plain)

    assert rule.within == timedelta(hours=1)
    assert to_plain(rule) == {**plain, "within": "PT1H"}
    assert from_plain(to_plain(rule)) == rule


@pytest.mark.parametrize(
    ("plain", "field"),
    [
        (None, "unique"),
        ("invoice", "unique"),
        ({}, "unique"),
        ({"key": ""}, "unique.key"),
        ({"key": " "}, "unique.key"),
        ({"key": 7}, "unique.key"),
        ({"key": "k" * 181}, "unique.key"),
        ({"key": "k", "while": "running"}, "unique.while"),
        ({"key": "k", "while": None}, "unique.while"),
        ({"key": "k", "within": 60}, "unique.within"),
        ({"key": "k", "within": "0s"}, "unique.within"),
        ({"key": "k", "within": "400d"}, "unique.within"),
        ({"key": "k", "on_conflict": "ignore"}, "unique.on_conflict"),
        ({"key": "k", "wihtin": "1h"}, "unique.wihtin"),
    ],
)
def test_a_wrong_rule_says_where(plain: object, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        from_plain(plain)

    assert refused.value.field == field


@pytest.mark.parametrize(
    ("waits", "runs", "in_period", "queued", "live"),
    [
        (True, False, False, True, True),
        (False, True, False, False, True),
        (False, False, True, True, True),
        (False, False, False, False, False),
    ],
)
def test_when_a_key_is_held(
    *, waits: bool, runs: bool, in_period: bool, queued: bool, live: bool
) -> None:
    standing = Standing(waits=waits, runs=runs, in_period=in_period)

    assert is_held(standing, While.QUEUED) is queued
    assert is_held(standing, While.LIVE) is live


def test_what_is_stored_of_a_key_is_short_and_its_own() -> None:
    assert len(digest("k" * 180)) == 16
    assert digest("invoice:1") != digest("invoice:2")
