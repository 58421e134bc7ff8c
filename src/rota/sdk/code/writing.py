"""Writes a manifest that people can read and go on with. Room: sdk/code.

What is written reads back as the same: a text that looks like a number is quoted.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from rota.contract.schedule import read_saved_schedule, write_schedule
from rota.sdk.code.manifest import VERSION
from rota.sdk.code.yaml_text import meaning

# A command that is broken into lines is hard to copy.
WIDTH: Final = 10_000
# The options of a schedule that says nothing about them.
USUAL: Final = {
    key: value
    for key, value in write_schedule(read_saved_schedule({"on_demand": True})).items()
    if key != "on_demand"
}


@dataclass(frozen=True, slots=True)
class Written:
    """A job for a file, with what is to stand above it as a comment."""

    name: str
    body: Mapping[str, Any]
    comments: Sequence[str] = ()


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 — nobody reads &id001
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 — theirs
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_style(text))


def _style(text: str) -> str | None:
    """Quoted where it could be read as something else, a block where it has lines."""
    if not all(char.isprintable() or char == "\n" for char in text):
        return '"'
    if "\n" not in text:
        return None if isinstance(meaning(text), str) else '"'
    # A block shows where its lines end, but for spaces there, and empty lines at its end.
    is_plain = not text[0].isspace() and not text.endswith("\n\n") and " \n" not in text
    return "|" if is_plain and not text.endswith(" ") else '"'


_Dumper.add_representer(str, _text)


def write(
    project: str,
    jobs: Sequence[Written],
    *,
    defaults: Mapping[str, Any] | None = None,
    calendars: Mapping[str, Any] | None = None,
    comments: Sequence[str] = (),
) -> str:
    """The text of a file."""
    head = [f"# {line}".rstrip() for line in comments]
    head += _dumped({"version": VERSION, "project": project})
    head += _dumped({"defaults": dict(defaults)}) if defaults else []
    head += _dumped({"calendars": dict(calendars)}) if calendars else []
    return "\n".join([*head, *_lines(jobs)]) + "\n"


def _lines(jobs: Sequence[Written]) -> Iterator[str]:
    if not jobs:
        yield "jobs: {}"
        return
    yield "jobs:"
    for place, job in enumerate(jobs):
        if place:
            yield ""
        yield from (f"  # {line}".rstrip() for line in job.comments)
        yield from (textwrap.indent(line, "  ") for line in _dumped({job.name: dict(job.body)}))


def _dumped(value: Mapping[str, Any]) -> list[str]:
    text = yaml.dump(
        dict(value),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=WIDTH,
    )
    return str(text).removesuffix("\n").split("\n")


def slim(schedule: Mapping[str, Any]) -> dict[str, Any]:
    """A schedule without what it would have anyway."""
    return _without(schedule, USUAL)


def _without(given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in given.items():
        if key in usual and value == usual[key]:
            continue
        if isinstance(value, dict) and isinstance(usual.get(key), dict):
            kept[key] = _without(value, usual[key])
        else:
            kept[key] = value
    return kept
