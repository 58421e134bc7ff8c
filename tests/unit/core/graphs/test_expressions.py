"""The language of conditions and values: what it says, and what it refuses (D3, D4)."""

import pytest

from rota.core.errors import ExpressionFailed, InvalidExpression
from rota.core.expressions import EvaluationBudget, evaluate, parse_expression

VALUES = {
    "input": {
        "n": 3,
        "half": 0.5,
        "name": "Ada",
        "file": "2026/report.csv",
        "list": [1, 2, 3],
        "none": None,
        "yes": True,
        "deep": {"x-y": {"z": [10, 20]}},
        "rows": [{"id": 1}, {"id": 2}],
    }
}


def value(text: str, bound: EvaluationBudget | None = None) -> object:
    return evaluate(parse_expression(text, names=("input",)), VALUES, bound)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 2 - 3", 5),
        ("7 / 2", 3.5),
        ("6 / 2", 3),
        ("-7 % 3", 2),
        ("- -3", 3),
        ("1.5e2", 150.0),
        ("'a' + \"b\"", "ab"),
        ("'it\\'s'", "it's"),
        ("[1, 2] + [3]", [1, 2, 3]),
        ("input.n", 3),
        ("input['n']", 3),
        ('input.deep["x-y"].z[1]', 20),
        ("input.list[-1]", 3),
        ("input.list[7]", None),
        ("input.list[input.n - 2]", 2),
        ("input.missing.of.it", None),
        ("input.name.upper", None),
        ("input.n == 3.0", True),
        ("input.yes == 1", False),
        ("input.n == '3'", False),
        ("input.none == null", True),
        ("input.missing != 3", True),
        ("input.missing < 3", False),
        ("input.missing >= 3", False),
        ("input.name < 3", False),
        ("'a' < 'b'", True),
        ("input.missing + 1", None),
        ("not input.missing", True),
        ("not not input.n", True),
        ("input.n and input.name", True),
        ("false or null", False),
        ("true or 1 / 0", True),
        ("false and 1 / 0", False),
        ("2 in input.list", True),
        ("'port' in input.file", True),
        ("'deep' in input", True),
        ("5 not in input.list", True),
        ("1 in input.none", False),
        ("len(input.list) + len(input.name)", 6),
        ("len(input.none)", None),
        ("lower(input.name) + upper('x')", "adaX"),
        ("lower('')", ""),
        ("starts_with(input.file, '2026/') and ends_with(input.file, '.csv')", True),
        ("contains(input.list, 2)", True),
        ("like(input.file, '*/rep?rt.csv')", True),
        ("like(input.file, '*.txt')", False),
        ("like('', '*')", True),
        ("like('a', '')", False),
        ("coalesce(input.none, input.missing, 7)", 7),
        ("exists(input.none)", False),
        ("min(input.list) + max(4, 9, 2) + sum(input.list)", 16),
        ("max([])", None),
        ("sum([])", 0),
        ("max('a', 'c', 'b')", "c"),
        ("any([0, false, 1])", True),
        ("all([])", True),
        ("text(input.n) + text(true)", "3true"),
        ("number(' 12 ') + number('0.5')", 12.5),
    ],
    ids=str,
)
def test_an_expression_has_a_value(text: str, expected: object) -> None:
    found = value(text)

    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "position", "wanted"),
    [
        ("", 0, "an expression"),
        ("input.n >", 9, "expected a value"),
        ("(input.n", 8, "expected )"),
        ("input.n = 3", 8, "use == instead of ="),
        ("input.n && input.m", 8, "use and instead of &"),
        ("!input.n", 0, "use not instead of !"),
        ("1 < 2 < 3", 6, "comparisons cannot be chained; write a < b and b < c"),
        ("input n", 6, "expected an operator"),
        ("output.n", 0, "unknown name; known names: input"),
        ("matches(input.n, '.*')", 0, "like()"),
        ("eval('1')", 0, "unknown function; known functions: len"),
        ("len()", 0, "len takes 1 argument"),
        ("len(1, 2)", 0, "len takes 1 argument"),
        ("'open", 0, "closing quote"),
        ("'\\x41'", 0, "after a backslash"),
        ("input.1", 6, "brackets"),
        ("input..n", 6, "expected a name after the dot"),
        ("1e999", 0, "the number is too large"),
        ("'\x00'", 1, "NUL"),
        ("[1, 2", 5, "expected ,"),
        ("(" * 21 + "1" + ")" * 21, 20, "levels"),
        ("1" + " " * 2000, 2000, "2000 characters"),
    ],
    ids=repr,
)
def test_what_cannot_be_read_is_refused_at_its_place(text: str, position: int, wanted: str) -> None:
    with pytest.raises(InvalidExpression) as refused:
        parse_expression(text, names=("input",), field="when")

    assert refused.value.position == position
    assert wanted in refused.value.wanted
    assert refused.value.field == "when"


@pytest.mark.parametrize("given", [None, 7, True, ["1"], {"a": 1}], ids=repr)
def test_only_a_text_is_an_expression(given: object) -> None:
    with pytest.raises(InvalidExpression):
        parse_expression(given, names=("input",))


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("input.n / 0", 8, "division by zero"),
        ("1 % (input.n - 3)", 2, "division by zero"),
        ("input.name * 2", 11, "cannot apply * to a string and a number"),
        ("input.list - 1", 11, "a list"),
        ("-input.name", 0, "cannot negate a string"),
        ("len(input.n)", 0, "len expects a string, a list or an object, not a number"),
        ("lower(3)", 0, "lower expects a string, not a number"),
        ("1 in 2", 2, "in expects a string, a list or an object, not a number"),
        ("max([1, 'a'])", 0, "not both"),
        ("number('nan')", 0, "number"),
        ("number('1_0')", 0, "not a number"),
        ("9e63 * 9e63", 5, "too large"),
        ("*".join(["99999999999999999999"] * 5), 62, "too large"),
    ],
    ids=str,
)
def test_what_cannot_be_done_fails_at_its_place(text: str, position: int, reason: str) -> None:
    with pytest.raises(ExpressionFailed) as failed:
        value(text)

    assert failed.value.position == position
    assert reason in failed.value.reason
    assert f"character {position + 1}" in str(failed.value)


@pytest.mark.parametrize("text", ["input.__class__", "input.n.real", "input.list.append"])
def test_nothing_of_python_can_be_reached(text: str) -> None:
    assert value(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "like(input.text, '*a*a*a*a*a*a*b')",
        " or ".join(["input.long == input.other"] * 40),
        " or ".join(["'x' in input.long"] * 60),
    ],
    ids=["glob", "equality", "membership"],
)
def test_an_evaluation_that_costs_too_much_is_given_up(text: str) -> None:
    values = {
        "input": {
            "text": "a" * 200_000,
            "long": list(range(20_000)),
            "other": [*range(19_999), 0],
        }
    }

    with pytest.raises(ExpressionFailed, match="too many steps"):
        evaluate(parse_expression(text, names=("input",)), values)


def test_a_long_expression_is_wide_and_not_deep() -> None:
    assert value("+".join(["1"] * 1000)) == 1000
    assert value("not " * 490 + "true") is True
    assert value("-" * 1001 + "1") == -1


def test_a_text_that_an_expression_makes_is_bounded() -> None:
    values = {"input": "x" * 200_000}

    with pytest.raises(ExpressionFailed, match="at most"):
        evaluate(parse_expression("input + input", names=("input",)), values)


def test_values_that_are_too_deep_are_not_compared() -> None:
    deep: object = 1
    for _ in range(500):
        deep = [deep]

    with pytest.raises(ExpressionFailed, match="nested too deeply"):
        evaluate(
            parse_expression("input.a == input.b", names=("input",)),
            {"input": {"a": deep, "b": deep}},
        )


def test_an_expression_says_what_it_reads() -> None:
    found = parse_expression(
        "steps.a.result.n > 1 and steps[input.x].state == 'x'", names=("steps", "input")
    )

    assert [(path.keys, path.is_open) for path in found.paths] == [
        (("steps", "a", "result", "n"), False),
        (("input", "x"), False),
        (("steps",), True),
    ]
