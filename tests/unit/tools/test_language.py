"""Every retired phrase is found where people would read it, and only there."""

import pytest
from tools.language import RETIRED, RetiredPhrase, Text, check_text, read_python, read_sql_comments


@pytest.mark.parametrize("phrase", RETIRED, ids=lambda phrase: phrase.example)
def test_a_retired_phrase_is_found(phrase: RetiredPhrase) -> None:
    found = list(check_text(Text("docs/a.md", 3, f"Before {phrase.example} after.")))
    assert any(problem.endswith(f"write {phrase.instead}") for problem in found)
    assert all(problem.startswith("docs/a.md:3: ") for problem in found)


def test_plain_language_passes() -> None:
    assert list(check_text(Text("docs/a.md", 1, "The worker claims runs. Default: 5 s."))) == []


def test_comments_docstrings_and_literals_of_python_are_read() -> None:
    source = '"""Module."""\nnobody = 1  # nobody\ntext = "somebody"\n'
    assert [(text.line, text.text) for text in read_python("a.py", source)] == [
        (1, '"""Module."""'),
        (2, "# nobody"),
        (3, '"somebody"'),
    ]


def test_only_comments_of_sql_are_read() -> None:
    source = "select told -- what nobody knows\nfrom rota.graph_runs\n"
    assert [text.text for text in read_sql_comments("a.sql", source)] == [" what nobody knows"]
