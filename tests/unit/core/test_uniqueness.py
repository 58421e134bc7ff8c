"""When a unique key is held (E16)."""

import pytest

from rota.core.uniqueness import HeldWhile, KeyHolderState, digest_key, is_held


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
    standing = KeyHolderState(waits=waits, runs=runs, in_period=in_period)

    assert is_held(standing, HeldWhile.QUEUED) is queued
    assert is_held(standing, HeldWhile.LIVE) is live


def test_what_is_stored_of_a_key_is_short_and_its_own() -> None:
    assert len(digest_key("k" * 180)) == 16
    assert digest_key("invoice:1") != digest_key("invoice:2")
