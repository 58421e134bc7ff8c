"""Which paths patterns mean."""

import pytest

from rota.core.errors import InvalidInput
from rota.executors.sync.patterns import FileSelection, read_pattern, read_patterns


def matches(pattern: str, path: str) -> bool:
    return read_pattern("include", pattern).matches(path.split("/"))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.jpg", "a.jpg"),
        ("**/*.jpg", "a.jpg"),
        ("**/*.jpg", "2026/05/a.jpg"),
        ("2026/**", "2026/05/a.jpg"),
        ("**/.cache/**", "a/.cache/b/c"),
        ("a/**/z", "a/z"),
        ("a/**/z", "a/b/c/z"),
        ("**", "anything/at/all"),
        ("?[0-9]", "a1"),
        ("[!a]", "b"),
        ("line\nbreak*", "line\nbreaks"),
        ("-rf", "-rf"),
        (".*", ".hidden"),
    ],
)
def test_a_pattern_means_these(pattern: str, path: str) -> None:
    assert matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.jpg", "2026/a.jpg"),
        ("**/*.jpg", "a.jpg/b"),
        ("2026/*", "2026/05/a.jpg"),
        ("a/**/z", "a/b/y"),
        ("A", "a"),
        ("a.b", "aXb"),
    ],
)
def test_a_pattern_does_not_mean_those(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


def test_a_pattern_made_to_be_slow_is_not() -> None:
    wild = "/".join(["**", "*a*a*a*a*a*a*a*b"] * 50)[:500].rstrip("/")

    assert not matches(wild, "/".join(["a" * 250] * 30))


def test_what_is_excluded_is_not_included() -> None:
    choice = FileSelection(
        include=read_patterns("include", ["**/*.jpg"]),
        exclude=read_patterns("exclude", ["tmp/**"]),
    )

    assert [path for path in ("a.jpg", "tmp/a.jpg", "a.txt") if choice.includes(path)] == ["a.jpg"]


@pytest.mark.parametrize("value", [[""], ["/a"], ["a//b"], ["../a"], ["a\0"]])
def test_what_is_no_pattern_is_refused(value: list[str]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read_patterns("include", value)

    assert refusal.value.field.startswith("include")
