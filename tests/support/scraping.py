"""Reads the text format of Prometheus as strictly as its specification allows, for tests."""

import re

FULL_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
LINE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
ENDS = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}

Series = tuple[str, tuple[tuple[str, str], ...]]


def scrape(page: str) -> dict[Series, float]:
    """Every series of a page and its value; anything that Prometheus would refuse is an error."""
    assert page.endswith("\n"), "the last line must end"
    found: dict[Series, float] = {}
    seen: set[str] = set()
    family, sort, helped = "", "", ""
    for line in page.removesuffix("\n").split("\n"):
        if line.startswith("# HELP "):
            helped = line.split(" ", 3)[2]
            assert helped not in seen, f"{helped} is written twice"
            seen.add(helped)
        elif line.startswith("# TYPE "):
            _, _, family, sort = line.split(" ")
            assert family == helped, f"{family} has no help before it"
            assert FULL_NAME.fullmatch(family)
        else:
            series, value = read_line(line)
            assert series[0] in {family + end for end in ENDS[sort]}, f"{series} in {family}"
            assert series not in found, f"{series} twice"
            found[series] = value
    return found


def read_line(line: str) -> tuple[Series, float]:
    match = LINE.fullmatch(line)
    assert match is not None, line
    name, inside, value = match.groups()
    labels: list[tuple[str, str]] = []
    place = 0
    while inside and place < len(inside):
        label = LABEL.match(inside, place)
        assert label is not None, line
        labels.append((label.group(1), unescaped(label.group(2))))
        place = label.end()
    return (name, tuple(labels)), float(value)


def unescaped(text: str) -> str:
    meant = {"\\\\": "\\", "\\n": "\n", '\\"': '"'}
    return re.sub(r'\\[\\n"]', lambda found: meant[found.group()], text)


def value_of(page: str, name: str, **labels: str) -> float:
    return scrape(page)[name, tuple(labels.items())]


def labels_of(page: str, name: str, label: str) -> list[str]:
    return [dict(labels)[label] for found, labels in scrape(page) if found == name]
