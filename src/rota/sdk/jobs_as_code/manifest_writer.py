"""Writes a manifest as YAML that people can read and edit.

Reading the file gives the same values: a string that looks like a number is quoted.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from rota.contract.schedule import read_saved_schedule, write_schedule
from rota.sdk.jobs_as_code.manifest import MANIFEST_VERSION
from rota.sdk.jobs_as_code.yaml_reader import resolve_scalar

# No line breaks: a command on one line is easier to copy.
LINE_CHARACTERS_MAX: Final = 10_000
# The default options of a schedule.
SCHEDULE_DEFAULTS: Final = {
    key: value
    for key, value in write_schedule(read_saved_schedule({"on_demand": True})).items()
    if key != "on_demand"
}


@dataclass(frozen=True, slots=True)
class ManifestJobText:
    """A job for a file, with the comments above it."""

    name: str
    body: Mapping[str, Any]
    comments: Sequence[str] = ()


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 — &id001 is hard to read
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 — PyYAML's signature
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_style(text))


def _style(text: str) -> str | None:
    """Quote a text that YAML could read as another type; write several lines as a block."""
    if not all(char.isprintable() or char == "\n" for char in text):
        return '"'
    if "\n" not in text:
        return None if isinstance(resolve_scalar(text), str) else '"'
    # A block cannot show spaces at the ends of lines and empty lines at its end.
    is_plain = not text[0].isspace() and not text.endswith("\n\n") and " \n" not in text
    return "|" if is_plain and not text.endswith(" ") else '"'


_Dumper.add_representer(str, _text)


def render_manifest(
    project: str,
    jobs: Sequence[ManifestJobText],
    *,
    defaults: Mapping[str, Any] | None = None,
    calendars: Mapping[str, Any] | None = None,
    alerting: Mapping[str, Any] | None = None,
    comments: Sequence[str] = (),
) -> str:
    """Render the text of a manifest. `alerting` has the sections `alerts` and `routes`."""
    head = [f"# {line}".rstrip() for line in comments]
    head += _dump_lines({"version": MANIFEST_VERSION, "project": project})
    head += _dump_lines({"defaults": dict(defaults)}) if defaults else []
    head += _dump_lines({"calendars": dict(calendars)}) if calendars else []
    given = {name: section for name, section in (alerting or {}).items() if section}
    foot = _dump_lines(given) if given else []
    return "\n".join([*head, *_lines(jobs), *foot]) + "\n"


def _lines(jobs: Sequence[ManifestJobText]) -> Iterator[str]:
    if not jobs:
        yield "jobs: {}"
        return
    yield "jobs:"
    for index, job in enumerate(jobs):
        if index:
            yield ""
        yield from (f"  # {line}".rstrip() for line in job.comments)
        yield from (textwrap.indent(line, "  ") for line in _dump_lines({job.name: dict(job.body)}))


def _dump_lines(value: Mapping[str, Any]) -> list[str]:
    text = yaml.dump(
        dict(value),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=LINE_CHARACTERS_MAX,
    )
    return str(text).removesuffix("\n").split("\n")


def remove_schedule_defaults(schedule: Mapping[str, Any]) -> dict[str, Any]:
    """Remove the default values from a schedule."""
    return _without_defaults(schedule, SCHEDULE_DEFAULTS)


def _without_defaults(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    rest: dict[str, Any] = {}
    for key, value in values.items():
        if key in defaults and value == defaults[key]:
            continue
        if isinstance(value, dict) and isinstance(defaults.get(key), dict):
            rest[key] = _without_defaults(value, defaults[key])
        else:
            rest[key] = value
    return rest
