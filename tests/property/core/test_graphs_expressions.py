"""Expressions never do anything but answer or refuse, and calculate as Python does (D3)."""

import json
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rota.core.errors import ExpressionFailed, InvalidExpression
from rota.core.expressions import EvaluationBudget, evaluate, parse_expression
from rota.core.expressions.functions import FUNCTIONS, matches_pattern

# A busy machine draws slowly.
SLOW = [HealthCheck.too_slow]
NAMES = ("input", "steps")
WORDS = st.sampled_from(
    [
        *("input", "steps", ".a", ".b", "[0]", "[-1]", '["x-y"]', "1", "0", "2.5", "'t'", "null"),
        *("true", "false", "and", "or", "not", "in", "==", "!=", "<", "<=", ">", ">=", "+", "-"),
        *("*", "/", "%", "(", ")", "[", "]", ",", ".", "$", "\\", '"', "é", "=", "lambda", "__"),
        *(f"{name}(" for name in FUNCTIONS),
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=25).map(" ".join))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "x-y"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None, suppress_health_check=SLOW)
@given(TEXTS, JSON, JSON)
def test_a_text_is_refused_at_a_place_or_gives_json_or_fails_at_a_place(
    text: str, one: Any, other: Any
) -> None:
    try:
        expression = parse_expression(text, names=NAMES)
        found = evaluate(expression, {"input": one, "steps": {"a": other, "b": one}})
    except (InvalidExpression, ExpressionFailed) as refused:
        assert 0 <= refused.position <= len(text)
        assert str(refused)
    else:
        json.dumps(found)


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW)
@given(st.sampled_from(sorted(FUNCTIONS)), st.lists(JSON, min_size=1, max_size=3))
def test_a_function_answers_or_fails_whatever_it_is_given(name: str, given_: list[Any]) -> None:
    function = FUNCTIONS[name]
    arguments = ", ".join(f"input[{place}]" for place in range(len(given_)))
    if not function.min_arguments <= len(given_) <= function.max_arguments:
        with pytest.raises(InvalidExpression):
            parse_expression(f"{name}({arguments})", names=NAMES)
        return

    try:
        found = evaluate(parse_expression(f"{name}({arguments})", names=NAMES), {"input": given_})
    except ExpressionFailed as failed:
        assert failed.position == 0
    else:
        json.dumps(found)


@st.composite
def numbers(draw: st.DrawFn, depth: int = 3) -> tuple[str, str]:
    """The same calculation, in our language and in Python."""
    if depth == 0:
        number = str(draw(st.integers(0, 9)))
        return draw(st.sampled_from([(number, number), ("input.a", "a"), ("input.b", "b")]))
    left, right = draw(numbers(depth - 1)), draw(numbers(depth - 1))
    match draw(st.sampled_from(["+", "-", "*", "%", "minus", "bare"])):
        case "minus":
            return f"(-{left[0]})", f"(-{left[1]})"
        case "bare":
            # Without brackets: what binds more must do so in both.
            return f"{left[0]} + {right[0]} * 2 - 1", f"{left[1]} + {right[1]} * 2 - 1"
        case "%":
            return f"({left[0]}) % 7", f"({left[1]}) % 7"
        case sign:
            return f"({left[0]}) {sign} ({right[0]})", f"({left[1]}) {sign} ({right[1]})"


@st.composite
def truths(draw: st.DrawFn, depth: int = 3) -> tuple[str, str]:
    if depth == 0:
        left, right = draw(numbers(1)), draw(numbers(1))
        sign = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
        return f"{left[0]} {sign} {right[0]}", f"{left[1]} {sign} {right[1]}"
    left, right = draw(truths(depth - 1)), draw(truths(depth - 1))
    match draw(st.sampled_from(["and", "or", "not", "brackets"])):
        case "not":
            return f"not {left[0]}", f"not {left[1]}"
        case "brackets":
            return f"({left[0]}) and not ({right[0]})", f"({left[1]}) and not ({right[1]})"
        case sign:
            return f"{left[0]} {sign} {right[0]}", f"{left[1]} {sign} {right[1]}"


@settings(max_examples=50, deadline=None, suppress_health_check=SLOW)
@given(st.one_of(numbers(), truths()), st.integers(-50, 50), st.integers(-50, 50))
def test_it_calculates_as_python_does(pair: tuple[str, str], a: int, b: int) -> None:
    ours, theirs = pair

    found = evaluate(parse_expression(ours, names=NAMES), {"input": {"a": a, "b": b}})

    assert found == eval(theirs, {"a": a, "b": b})


@settings(max_examples=200, deadline=None)
@given(st.text("ab", max_size=12), st.text("ab*?", max_size=8))
def test_a_pattern_fits_what_a_shell_says_it_fits(text: str, pattern: str) -> None:
    assert matches_pattern(text, pattern, EvaluationBudget()) is fnmatchcase(text, pattern)
