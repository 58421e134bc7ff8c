"""Renders the parts that SQL statements share; `--check` only says whether they are current.

A statement in `store/sql` is complete SQL. A shared part stands between two comments, and its text
comes from `store/sql_fragments`, so that a new column of a table is one edit:

    -- fragment: ended_run row=e without=session_id,result
    --   state: 'cancelled'
    insert into rota.runs (…)
    select
        …
    -- end fragment
    from ended as e

A fragment is text with `{parameters}`. If it contains `{columns}`, its select list is one value per
line, and `{columns}` becomes the names of the values: the name after `as`, or the column itself. A
region can leave values out (`without`) and replace one by its name (`state: 'cancelled'`). The
comments at the start of a fragment are for its readers and are not rendered.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STATEMENTS = ROOT / "src" / "rota" / "store" / "sql"
FRAGMENTS = ROOT / "src" / "rota" / "store" / "sql_fragments"
LINE_WIDTH = 100
COLUMN_INDENT = 4

START = re.compile(r"(?P<indent> *)-- fragment: (?P<name>\w+)(?P<words>(?: \w+=\S+)*)")
SETTING = re.compile(r" *--   (?P<name>\w+): (?P<value>.+)")
END = "-- end fragment"
PARAMETER = re.compile(r"\{(\w+)\}")
VALUE_NAME = re.compile(r"(?: as |\.)(\w+)$")


class FragmentError(ValueError):
    """A region or a fragment that cannot be rendered; the message names the cause."""


@dataclass
class Region:
    """The first lines of a region: which fragment it shows, with which parameters."""

    fragment: str
    indent: str
    parameters: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, value: str) -> None:
        """Set a parameter. `without` may take several lines."""
        before = self.parameters.get(name)
        if before is not None and name != "without":
            raise FragmentError(f"the region {self.fragment} sets {name} twice")
        self.parameters[name] = value if before is None else f"{before}, {value}"

    @property
    def left_out(self) -> list[str]:
        return re.findall(r"\w+", self.parameters.get("without", ""))


def render_statement(text: str, fragments: Mapping[str, str]) -> str:
    """Return the statement with every region rendered from its fragment."""
    rendered: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        rendered.append(line)
        if start := START.fullmatch(line):
            words = [word.split("=", 1) for word in start["words"].split()]
            region = Region(start["name"], start["indent"], dict(words))
            end = _read_region(lines, region, rendered)
            if region.fragment not in fragments:
                raise FragmentError(f"there is no fragment {region.fragment}")
            body = render_fragment(fragments[region.fragment], region)
            rendered.append(textwrap.indent(body, region.indent))
            rendered.append(end)
        elif line.strip().startswith(("-- fragment", END)):
            raise FragmentError(f"this marker opens or closes nothing: {line.strip()}")
    return "\n".join(rendered) + "\n"


def _read_region(lines: Iterator[str], region: Region, rendered: list[str]) -> str:
    """Read to the end of a region, keep its settings, and return the line that ends it."""
    in_header = True
    for line in lines:
        if line.strip() == END:
            return line
        if START.fullmatch(line):
            break
        if in_header and (setting := SETTING.fullmatch(line)):
            region.add(setting["name"], setting["value"])
            rendered.append(line)
        else:
            in_header = False
    raise FragmentError(f"the region {region.fragment} has no `{END}`")


def render_fragment(text: str, region: Region) -> str:
    """Return the text of a fragment for one region, not indented."""
    lines = text.splitlines()
    while lines and lines[0].startswith("--"):
        del lines[0]
    used = {"without"} if region.left_out else set()
    if "{columns}" in text:
        lines = _render_select_list(lines, region, used)

    def fill_in(match: re.Match[str]) -> str:
        if match[1] not in region.parameters:
            raise FragmentError(f"the region {region.fragment} does not set {match[1]}")
        used.add(match[1])
        return region.parameters[match[1]]

    body = PARAMETER.sub(fill_in, "\n".join(lines))
    if unknown := region.parameters.keys() - used:
        raise FragmentError(f"the fragment {region.fragment} has no {', '.join(sorted(unknown))}")
    return body


def _render_select_list(lines: list[str], region: Region, used: set[str]) -> list[str]:
    start = lines.index("select") + 1
    values = {_read_name(line): line.strip().removesuffix(",") for line in lines[start:]}
    if unknown := set(region.left_out) - values.keys():
        raise FragmentError(f"the fragment {region.fragment} has no {', '.join(sorted(unknown))}")
    for name in region.left_out:
        del values[name]
    for name in values.keys() & region.parameters.keys():
        used.add(name)
    shown = [
        region.parameters.get(name, re.sub(r" as \w+$", "", value))
        for name, value in values.items()
    ]
    columns = textwrap.fill(
        ", ".join(values), LINE_WIDTH - len(region.indent) - COLUMN_INDENT, break_long_words=False
    )
    indent = " " * COLUMN_INDENT
    head = "\n".join(lines[:start]).replace(
        f"{indent}{{columns}}", textwrap.indent(columns, indent)
    )
    return [head, ",\n".join(indent + value for value in shown)]


def _read_name(line: str) -> str:
    found = VALUE_NAME.search(line.strip().removesuffix(","))
    if found is None:
        raise FragmentError(f"a value of a select list needs a name: {line.strip()}")
    return found[1]


def read_fragments(folder: Path = FRAGMENTS) -> dict[str, str]:
    return {path.stem: path.read_text() for path in sorted(folder.glob("*.sql"))}


def find_unused(texts: list[str], fragments: Mapping[str, str]) -> list[str]:
    """Return the fragments that no statement shows."""
    used = {match["name"] for text in texts for match in START.finditer(text)}
    return sorted(fragments.keys() - used)


def main(*, check: bool, folder: Path = STATEMENTS, fragments: Path = FRAGMENTS) -> int:
    known = read_fragments(fragments)
    texts: list[str] = []
    problems: list[str] = []
    for path in sorted(folder.rglob("*.sql")):
        text = path.read_text()
        texts.append(text)
        try:
            rendered = render_statement(text, known)
        except FragmentError as error:
            problems.append(f"{path.relative_to(folder)}: {error}")
            continue
        if rendered == text:
            continue
        if check:
            stale = f"{path.relative_to(folder)} is not what its fragments render"
            problems.append(f"{stale}; run `make generate`")
        else:
            path.write_text(rendered)
    problems += [f"no statement shows the fragment {name}" for name in find_unused(texts, known)]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main(check="--check" in sys.argv[1:]))
