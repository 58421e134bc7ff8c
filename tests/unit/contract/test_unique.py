"""Uniqueness rules as people write them (E16)."""

from datetime import timedelta

import pytest

from rota.contract.documents import read_input
from rota.contract.unique import UniqueDraft, to_unique
from rota.core.errors import InvalidInput
from rota.core.uniqueness import HeldWhile, OnConflict, UniqueRule


def read_unique(plain: object) -> UniqueRule:
    return to_unique(read_input(UniqueDraft, plain, path="unique"))


def test_a_rule_needs_only_its_key() -> None:
    assert read_unique({"key": "invoice:42"}) == UniqueRule(
        key="invoice:42",
        held_while=HeldWhile.LIVE,
        within=None,
        on_conflict=OnConflict.RETURN,
    )


def test_a_rule_says_all_of_itself() -> None:
    plain = {"key": "k:{args.id}", "while": "queued", "within": "1h", "on_conflict": "replace"}

    rule = read_unique(plain)

    assert rule == UniqueRule(
        key="k:{args.id}",
        held_while=HeldWhile.QUEUED,
        within=timedelta(hours=1),
        on_conflict=OnConflict.REPLACE,
    )


@pytest.mark.parametrize(
    ("plain", "field"),
    [
        (None, "unique"),
        ("invoice", "unique"),
        ({}, "unique.key"),
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
        read_unique(plain)

    assert refused.value.field == field
