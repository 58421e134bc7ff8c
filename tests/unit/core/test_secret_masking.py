"""Values of secrets are hidden in the ways in which they are usually written (5.6)."""

import base64
import json
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.core.secret_masking import SecretMask

VALUE = 'pä"ss wörd/+\\x7=&'
LONG = "".join(f"{number:04x}" for number in range(200))

WAYS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": json.dumps,
    "JSON in letters of its own": lambda value: json.dumps(value, ensure_ascii=False),
    "a literal": repr,
    "a path": quote,
    "a parameter": lambda value: quote(value, safe=""),
    "a form": quote_plus,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 after one letter": lambda value: base64.b64encode(b":" + value.encode()).decode(),
    "base64 after a user": lambda value: base64.b64encode(b"me:" + value.encode() + b"!").decode(),
    "base64 for URLs": lambda value: base64.urlsafe_b64encode(b"ab" + value.encode()).decode(),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_value_is_hidden_however_it_is_written(way: str) -> None:
    written = WAYS[way](VALUE)

    told = SecretMask([VALUE]).mask_text(f"it was {written} at last")

    assert "***" in told
    assert written not in told
    assert told.startswith("it was ")
    assert told.endswith(" at last")


def test_a_value_of_several_lines_is_hidden_line_by_line() -> None:
    key = "-----BEGIN KEY-----\nabcdefghijklm\nnopqrstuvwxyz\n-----END KEY-----\n"

    assert SecretMask([key]).mask_text("line 2 is nopqrstuvwxyz") == "line 2 is ***"


def test_a_piece_of_a_value_that_was_cut_is_hidden_in_a_message() -> None:
    assert SecretMask([LONG]).mask_text(f"not accepted: '{LONG[:60]}…") == "not accepted: '***…"
    assert SecretMask([LONG]).mask_text(f"{LONG[-50:]} was last") == "*** was last"


def test_other_words_stay() -> None:
    mask = SecretMask(["hunter2", LONG])

    assert mask.mask_text("hunter, hunted") == "hunter, hunted"
    assert mask.mask_value({"a": [1, 2.5, None, True, "x"]}) == {"a": [1, 2.5, None, True, "x"]}


def test_a_value_of_json_is_hidden_in_texts_names_and_numbers_and_stays_json() -> None:
    hidden = SecretMask(["12345678"]).mask_value(
        {"n": 12345678, "a12345678": ["x 12345678", (1, 2)]}
    )

    assert hidden == {"n": "***", "a***": ["x ***", [1, 2]]}


def test_what_is_not_of_json_becomes_a_text_without_it() -> None:
    assert SecretMask(["hunter2"]).mask_value(frozenset({"hunter2"})) == "frozenset({'***'})"


def test_the_longer_of_two_values_is_hidden_whole() -> None:
    assert (
        SecretMask(["secret", "secret and more"]).mask_text("secret and more, secret") == "***, ***"
    )


def test_without_values_nothing_is_hidden() -> None:
    assert SecretMask([]).mask_text("anything at all") == "anything at all"
    assert SecretMask([]).mask_chunk(b"anything") == (b"anything", b"")


@given(
    before=st.binary(max_size=30),
    after=st.binary(max_size=30),
    cuts=st.lists(st.integers(min_value=0, max_value=80), max_size=8),
)
def test_output_that_is_cut_anywhere_never_shows_a_value(
    before: bytes, after: bytes, cuts: list[int]
) -> None:
    value = "abcabcabd-hunter2"
    whole = before + value.encode() + after
    mask, kept, said = SecretMask([value]), b"", b""

    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    for start, end in pairwise(places):
        told, kept = mask.mask_chunk(kept + whole[start:end])
        said += told

    assert said + kept == before + b"***" + after


def test_only_what_may_begin_a_value_waits_for_more() -> None:
    mask = SecretMask(["hunter2"])

    assert mask.mask_chunk(b"I met a hunt") == (b"I met a ", b"hunt")
    assert mask.mask_chunk(b"hunting") == (b"hunting", b"")
