"""Tables on terminals: aligned, cut, harmless (I4)."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

from rota.cli.tables import (
    Screen,
    TableColumn,
    format_cell,
    measure_width,
    render_pairs,
    render_table,
    truncate_text,
)


class Row(NamedTuple):
    name: str
    number: object
    state: str = "succeeded"


COLUMNS: list[TableColumn[Any]] = [
    TableColumn("NAME", lambda row: row.name, flexible=True),
    TableColumn("N", lambda row: row.number, right=True),
    TableColumn("STATE", lambda row: row.state, mood=True),
]


def test_columns_are_aligned_and_numbers_stand_right() -> None:
    rows = [Row("a", 5), Row("bbbb", 1000, "dead")]

    assert list(render_table(COLUMNS, rows)) == [
        "NAME     N  STATE",
        "a        5  succeeded",
        "bbbb  1000  dead",
    ]


def test_the_flexible_column_gives_way_on_a_narrow_screen() -> None:
    lines = list(render_table(COLUMNS, [Row("a name that is long", 1)], Screen(width=26)))

    assert lines[1] == "a name that…  1  succeeded"
    assert max(map(len, lines)) == 26


def test_a_screen_that_is_too_narrow_for_all_columns_cuts_the_line() -> None:
    lines = list(render_table(COLUMNS, [Row("a name that is long", 1)], Screen(width=16)))

    assert max(map(len, lines)) <= 16
    assert lines[1].endswith("…")


def test_wide_characters_take_two_places() -> None:
    lines = list(render_table(COLUMNS, [Row("日本語", 1), Row("abcdef", 2)]))

    assert [line.index(digit) for line, digit in zip(lines[1:], "12", strict=True)] == [5, 8]
    assert measure_width("日本語") == 6
    assert truncate_text("日本語", 5) == "日本…"
    assert measure_width("e\u0301") == 1


def test_text_of_others_cannot_steer_the_terminal() -> None:
    assert format_cell("a\x1b[2Jb\nc\td\x07") == "a\\u001b[2Jb c d\\u0007"
    assert "\x9b" not in format_cell("\x9b31m")
    assert format_cell("日本 é") == "日本 é"


def test_values_are_shown_as_people_and_programs_write_them() -> None:
    moment = datetime(2026, 7, 1, 12, 0, 0, 5, tzinfo=UTC)

    assert [format_cell(value) for value in (None, True, 3, {"a": [1]}, moment)] == [
        "",
        "yes",
        "3",
        '{"a": [1]}',
        "2026-07-01T12:00:00Z",
    ]


def test_colours_are_for_terminals_only() -> None:
    (_, plain) = render_table(COLUMNS, [Row("a", 1, "dead")])
    (_, bright) = render_table(COLUMNS, [Row("a", 1, "dead")], Screen(width=80, colours=True))

    assert "\x1b" not in plain
    assert "\x1b[31mdead" in bright
    assert bright.endswith("\x1b[0m")


def test_one_thing_leaves_out_what_is_not_there() -> None:
    rows: list[tuple[str, object]] = [("name", "a"), ("nothing", None), ("retries", 0)]

    assert list(render_pairs(rows)) == ["name     a", "retries  0"]
