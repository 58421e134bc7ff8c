"""Every problem has a page, and its example is what the API would answer."""

import json
import re
from pathlib import Path

import pytest

from rota.api.problems import PROBLEM_KINDS

FOLDER = Path(__file__).parents[3] / "docs" / "problems"
EXAMPLE = re.compile(r"```json\n(.*?)\n```", re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+\.md)\)")


def test_there_is_a_page_for_each_problem_and_none_besides() -> None:
    pages = {page.stem for page in FOLDER.glob("*.md")} - {"README"}

    assert pages == set(PROBLEM_KINDS)


@pytest.mark.parametrize("code", sorted(PROBLEM_KINDS))
def test_a_page_shows_the_problem_as_it_is_answered(code: str) -> None:
    text = (FOLDER / f"{code}.md").read_text("utf-8")

    (example,) = [json.loads(found) for found in EXAMPLE.findall(text)]

    status, title = PROBLEM_KINDS[code]
    assert text.startswith(f"# {title}\n\nHTTP status {status}, code `{code}`.\n")
    assert (example["code"], example["type"]) == (code, f"/problems/{code}")
    assert (example["status"], example["title"]) == PROBLEM_KINDS[code]
    assert {"detail", "request_id", "instance"} <= set(example)
    assert all(set(each) == {"pointer", "code", "detail"} for each in example.get("errors", ()))


@pytest.mark.parametrize("code", sorted(PROBLEM_KINDS))
def test_a_page_says_what_it_means_and_what_to_do(code: str) -> None:
    text = (FOLDER / f"{code}.md").read_text("utf-8")
    meaning, todo = text.split("## What it means")[1], text.split("## What to do")[1]

    assert len(meaning.split("## Typical causes")[0].strip()) > 40
    assert todo.split("## Example")[0].count("\n- ") >= 2


def test_the_index_leads_to_every_page() -> None:
    rows = re.findall(r"^\| (\d+) \| \[(\w+)\]\((\w+)\.md\) \| (.+) \|$", index(), re.MULTILINE)

    assert {(code, int(status), title) for status, code, _, title in rows} == {
        (code, kind.status, kind.title) for code, kind in PROBLEM_KINDS.items()
    }
    assert all(code == page for _, code, page, _ in rows)


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.stem)
def test_no_link_leads_nowhere(page: Path) -> None:
    links = LINK.findall(page.read_text("utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []


def index() -> str:
    return (FOLDER / "README.md").read_text("utf-8")
