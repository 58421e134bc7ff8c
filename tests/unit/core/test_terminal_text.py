"""Text of others cannot steer a terminal (F12)."""

import json

import pytest

from rota.core.terminal_text import escape_controls, remove_colours

HOSTILE = (
    "\x1b]0;title\x07",
    "\x1b[2J\x1b[H",
    "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x9b31m\x9d0;title\x9c",
    "\x1bPq\x1b\\",
    "over\rwritten",
    "bell\x07 back\x08 delete\x7f nul\x00",
    "gpj.\u202etxt \u2066isolated\u2069 \u200f\u061c",
    "zero\u200bwidth\ufeff\u2060",
    "line\u2028paragraph\u2029",
    "tag\U000e0041",
)
COLOURS = ("\x1b[0m", "\x1b[m", "\x1b[1;31m", "\x1b[38;5;8m", "\x1b[38;2;8;8;8m", "\x1b[4:3m")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("keep_colours", [False, True])
def test_no_control_character_passes(text: str, keep_colours: bool) -> None:
    escaped = escape_controls(text, keep_colours=keep_colours)

    assert escaped.isprintable()


@pytest.mark.parametrize("text", HOSTILE)
def test_json_stays_the_same_json(text: str) -> None:
    written = json.dumps(text, ensure_ascii=False)

    assert json.loads(escape_controls(written)) == text


@pytest.mark.parametrize("text", COLOURS)
def test_colours_pass_where_they_are_wanted(text: str) -> None:
    assert escape_controls(text, keep_colours=True) == text
    assert "\x1b" not in escape_controls(text)
    assert remove_colours(f"a{text}b") == "ab"


@pytest.mark.parametrize("text", ["\x1b[8m", "\x1b[1;8m", "\x1b[38;5;1;8m", "\x1b[08m"])
def test_a_colour_that_hides_what_follows_does_not_pass(text: str) -> None:
    assert "\x1b" not in escape_controls(text, keep_colours=True)


def test_ordinary_text_stays_as_it_is() -> None:
    for text in ("a\tb\nc", "Grüße, 中文, שלום", "family 👩\u200d👩\u200d👧", "می\u200cخواهم"):
        assert escape_controls(text) == text
    assert escape_controls("a\r\nb") == "a\nb"


def test_a_lone_surrogate_is_written_as_its_number() -> None:
    assert escape_controls("\udc80") == "\\udc80"
