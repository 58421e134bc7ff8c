"""How parameters find their places in SQL text."""

from typing import Any

import pytest

from rota.core.errors import InvalidInput
from rota.executors.sql.connections import Dialect
from rota.executors.sql.statement import read_statement
from rota.sdk.testing import RecordingContext

CONTEXT = RecordingContext()


def bound(text: str, parameters: Any, dialect: Dialect) -> tuple[str, list[object]]:
    read = read_statement(text, parameters, field="query", dialect=dialect)
    return read.bind(dialect, CONTEXT)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (Dialect.POSTGRESQL, "select $1, $2, $1"),
        (Dialect.MYSQL, "select %s, %s, %s"),
        (Dialect.SQLITE, "select ?, ?, ?"),
        (Dialect.DUCKDB, "select ?, ?, ?"),
    ],
)
def test_names_become_the_marks_of_the_database(dialect: Dialect, text: str) -> None:
    given = bound("select :a, :b, :a", {"a": 1, "b": 2}, dialect)

    assert given == (text, [1, 2] if dialect is Dialect.POSTGRESQL else [1, 2, 1])


@pytest.mark.parametrize(
    "kept",
    [
        "':a'",
        "'it''s :a'",
        '":a"',
        "x::a",
        "l[1:a]",
        "-- :a\n",
        "/* :a */",
        "$$ :a $$",
        "$tag$ :a $other$ :a $tag$",
        "{'k':a}",
        "`:a`",
    ],
)
def test_what_only_looks_like_a_name_is_left_alone(kept: str) -> None:
    text, values = bound(f"select {kept}, :a", {"a": 1}, Dialect.POSTGRESQL)

    assert text == f"select {kept}, $1"
    assert values == [1]


@pytest.mark.parametrize("kept", [r"'it\'s :a'", r'"\" :a"', "# :a\n"])
def test_mysql_escapes_with_a_backslash(kept: str) -> None:
    text, values = bound(f"select {kept}, :a", {"a": 1}, Dialect.MYSQL)

    assert text == f"select {kept}, %s"
    assert values == [1]


def test_a_per_cent_sign_is_not_taken_for_a_mark() -> None:
    named = bound("select 7 % 2, '%s', :a", {"a": 1}, Dialect.MYSQL)
    listed = bound("select 7 % 2, '%s?', ?", [1], Dialect.MYSQL)
    without = bound("select 7 % 2", None, Dialect.MYSQL)

    assert named == ("select 7 %% 2, '%%s', %s", [1])
    assert listed == ("select 7 %% 2, '%%s?', %s", [1])
    assert without == ("select 7 % 2", [])


def test_a_list_keeps_the_marks_of_the_database() -> None:
    assert bound("select $1", [7], Dialect.POSTGRESQL) == ("select $1", [7])
    assert bound("select ?", [7], Dialect.SQLITE) == ("select ?", [7])


def test_the_run_is_known_without_being_given() -> None:
    text, values = bound("select :rota_run_id, :rota_attempt, :other", None, Dialect.POSTGRESQL)

    assert text == "select $1, $2, :other"
    assert values == [str(CONTEXT.run_id), 1]


@pytest.mark.parametrize(
    ("text", "parameters", "said"),
    [
        ("select :a", {"b": 1}, "the statement does not use :b"),
        ("select :a, :b", {"a": 1}, "':b'"),
        ("select :rota_run_id", {"rota_run_id": "x"}, "Rota provides this parameter"),
        ("", None, "expected an SQL statement"),
        ("  ", None, "expected an SQL statement"),
        ("select '\0'", None, "expected an SQL statement"),
        ("commit", None, "already run in one transaction"),
        (" /* x */ -- y\n; ROLLBACK", None, "already run in one transaction"),
        ("start  transaction read only", None, "already run in one transaction"),
    ],
)
def test_what_is_wrong_is_refused_in_one_sentence(
    text: str, parameters: dict[str, object] | None, said: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_statement(text, parameters, field="query", dialect=Dialect.POSTGRESQL)

    assert said in str(refused.value)


def test_a_semicolon_at_the_end_is_no_second_statement() -> None:
    assert bound("select 1 ; ", None, Dialect.DUCKDB)[0] == "select 1"
