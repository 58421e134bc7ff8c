"""The text of an API key: what it is made of, and what is refused without asking anybody (T2)."""

import re
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.core import api_keys
from rota.core.errors import InvalidInput, Unauthenticated

BITS = bytes(range(32))
TEXT = api_keys.create_key(BITS).text


@given(st.binary(min_size=32, max_size=32))
def test_a_key_has_its_form_and_is_read_back(bits: bytes) -> None:
    made = api_keys.create_key(bits)

    read = api_keys.parse_key(made.text)

    assert re.fullmatch(r"rota_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}", made.text)
    assert (read.handle, read.digest) == (made.handle, made.digest)
    assert made.digest == sha256(made.text.split("_")[2].encode()).digest()


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_different_bits_are_different_secrets(one: bytes, other: bytes) -> None:
    assert (api_keys.create_key(one).digest == api_keys.create_key(other).digest) == (one == other)


def test_all_of_the_largest_number_fits() -> None:
    largest, next_to_it = bytes([255] * 32), bytes([255] * 31 + [254])

    assert api_keys.create_key(largest).digest != api_keys.create_key(next_to_it).digest


@given(st.integers(0, len(TEXT) - 1), st.sampled_from("0Aaz9_- \n\x00é０"))
def test_one_wrong_character_is_refused(place: int, char: str) -> None:
    wrong = TEXT[:place] + char + TEXT[place + 1 :]
    if wrong == TEXT:
        return

    with pytest.raises(Unauthenticated):
        api_keys.parse_key(wrong)


@pytest.mark.parametrize(
    "text",
    ["", "rota", TEXT[:-1], TEXT + "0", TEXT + "\n", " " + TEXT, TEXT.upper(), "x" * 1_000_000],
)
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises(Unauthenticated):
        api_keys.parse_key(text)


@given(st.text())
def test_any_text_is_refused_and_never_an_accident(text: str) -> None:
    with pytest.raises(Unauthenticated):
        api_keys.parse_key(text)


def test_an_error_and_a_shown_key_do_not_tell_the_secret() -> None:
    secret = TEXT.split("_")[2]
    wrong = TEXT[:-1] + ("0" if TEXT[-1] != "0" else "1")

    with pytest.raises(Unauthenticated) as caught:
        api_keys.parse_key(wrong)

    assert secret not in str(caught.value) + repr(caught.value)
    assert secret not in repr(api_keys.create_key(BITS))


@pytest.mark.parametrize("bits", [b"", bytes(31), bytes(33)])
def test_fewer_or_more_bits_make_no_key(bits: bytes) -> None:
    with pytest.raises(InvalidInput, match="256 random bits"):
        api_keys.create_key(bits)
