"""Shared parts of SQL statements are rendered from fragments, and a stale one is found."""

from pathlib import Path

import pytest
from tools import sql_fragments
from tools.sql_fragments import FragmentError, render_statement

FRAGMENTS = {
    "ended": (
        "-- For readers only.\n"
        "insert into runs (\n    {columns}\n)\nselect\n"
        "    {row}.id,\n    now() as finished_at,\n    {row}.result,\n    {row}.state\n"
    ),
    "marked": "insert into marks (state)\nselect {state}::text\n",
}
STATEMENT = """\
-- End runs.
with told as (
    -- fragment: ended row=e without=result
    --   state: case when e.x then 'a' else 'b' end
    insert into runs (
        id, finished_at, state
    )
    select
        e.id,
        now(),
        case when e.x then 'a' else 'b' end
    -- end fragment
    from ended as e
)

-- fragment: marked state='a'
insert into marks (state)
select 'a'::text
-- end fragment
from told;
"""


def test_a_current_statement_is_rendered_as_it_is() -> None:
    assert render_statement(STATEMENT, FRAGMENTS) == STATEMENT


def test_a_new_column_of_a_fragment_appears_in_the_columns_and_the_values() -> None:
    wider = FRAGMENTS["ended"].replace("    {row}.id,\n", "    {row}.id,\n    {row}.name,\n")
    rendered = render_statement(STATEMENT, {**FRAGMENTS, "ended": wider})

    assert "        id, name, finished_at, state\n" in rendered
    assert "        e.id,\n        e.name,\n        now(),\n" in rendered
    assert render_statement(rendered, {**FRAGMENTS, "ended": wider}) == rendered


def test_what_was_edited_inside_a_region_is_restored() -> None:
    edited = STATEMENT.replace("        now(),\n", "        now() + '1 s',\n")
    assert render_statement(edited, FRAGMENTS) == STATEMENT


def test_a_long_column_list_is_wrapped_to_the_width_of_the_linter() -> None:
    values = ",\n".join(f"    {{row}}.column_{number:02}" for number in range(30))
    wide = f"insert into runs (\n    {{columns}}\n)\nselect\n{values}\n"
    text = "    -- fragment: wide row=e\n    -- end fragment\n    from e;\n"
    rendered = render_statement(text, {"wide": wide})

    assert max(map(len, rendered.splitlines())) <= sql_fragments.LINE_WIDTH
    assert render_statement(rendered, {"wide": wide}) == rendered


def test_columns_are_left_out_over_several_lines() -> None:
    text = (
        "-- fragment: ended row=e\n--   without: result\n--   without: state, finished_at\n"
        "-- end fragment\nfrom e;\n"
    )
    assert "insert into runs (\n    id\n)\nselect\n    e.id\n" in render_statement(text, FRAGMENTS)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("-- fragment: missing\n-- end fragment\n", "no fragment missing"),
        ("-- fragment: marked state='a'\nselect 1;\n", "has no `-- end fragment`"),
        ("-- fragment: marked\n-- end fragment\n", "does not set state"),
        ("-- fragment: marked state='a' row=e\n-- end fragment\n", "has no row"),
        ("-- fragment: ended row=e without=age\n-- end fragment\n", "has no age"),
        ("-- fragment: ended row=e\n--   row: f\n-- end fragment\n", "sets row twice"),
        ("-- fragment marked\nselect 1;\n", "opens or closes nothing"),
        ("select 1;\n-- end fragment\n", "opens or closes nothing"),
    ],
)
def test_a_region_that_cannot_be_rendered_names_the_cause(text: str, cause: str) -> None:
    with pytest.raises(FragmentError, match=cause):
        render_statement(text, FRAGMENTS)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    statements, fragments = tmp_path / "sql", tmp_path / "sql_fragments"
    (statements / "runs").mkdir(parents=True)
    fragments.mkdir()
    (statements / "runs" / "end.sql").write_text(STATEMENT)
    for name, text in FRAGMENTS.items():
        (fragments / f"{name}.sql").write_text(text)
    return statements, fragments


def test_a_stale_region_is_found_and_rendered_again(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    statements, fragments = folders
    path = statements / "runs" / "end.sql"
    path.write_text(STATEMENT.replace("        e.id,\n", ""))

    assert sql_fragments.main(check=True, folder=statements, fragments=fragments) == 1
    assert "runs/end.sql is not what its fragments render" in capsys.readouterr().out
    assert path.read_text() != STATEMENT

    assert sql_fragments.main(check=False, folder=statements, fragments=fragments) == 0
    assert path.read_text() == STATEMENT
    assert sql_fragments.main(check=True, folder=statements, fragments=fragments) == 0


def test_a_fragment_that_no_statement_shows_is_found(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    statements, fragments = folders
    (fragments / "forgotten.sql").write_text("select 1\n")

    assert sql_fragments.main(check=True, folder=statements, fragments=fragments) == 1
    assert "no statement shows the fragment forgotten" in capsys.readouterr().out


def test_every_statement_of_the_store_is_current() -> None:
    assert sql_fragments.main(check=True) == 0
