"""The examples of docs/reference/api.md: taken out of the page, and the curl in them understood.

The words of a shell are understood as far as the page uses them: variables outside of single
quotes, and the few options of curl that are here. So curl need not be installed.
"""

import argparse
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "api.md"
SECTION = re.compile(r"^### ([A-Z]+ /\S*)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^```sh\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
STATUS = re.compile(r"^Returns `(\d{3})`", re.MULTILINE)
ANSWER = re.compile(r"^```json\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"'[^']*'")


class Request(NamedTuple):
    method: str
    url: str
    headers: dict[str, str]
    body: str | None
    is_stream: bool


@dataclass(frozen=True, kw_only=True)
class Example:
    """`answer` is the JSON that the page shows, None if it shows none."""

    heading: str
    command: str
    status: int
    answer: Any

    @property
    def variables(self) -> set[str]:
        return set(Template(self.command).get_identifiers())

    def words(self, variables: Mapping[str, str]) -> list[str]:
        """The command as a shell hands it over; a variable that is not given is an error."""
        kept = QUOTED.findall(self.command)
        assert not any("$" in text for text in kept), "a shell fills in nothing between these"
        line = self.command.replace("\\\n", " ")
        return [Template(word).substitute(variables) for word in shlex.split(line)]

    def request(self, variables: Mapping[str, str]) -> Request:
        """What curl would send."""
        name, *words = self.words(variables)
        assert name == "curl"
        asked = _options().parse_args(words)
        method = asked.method or ("GET" if asked.body is None else "POST")
        headers = dict(header.split(": ", 1) for header in asked.headers)
        return Request(method, asked.url, headers, asked.body, asked.is_stream)


def _options() -> argparse.ArgumentParser:
    """Those of curl that the page uses; another one is an error."""
    options = argparse.ArgumentParser(allow_abbrev=False, exit_on_error=False)
    options.add_argument("-s", action="store_true")
    options.add_argument("-S", action="store_true")
    options.add_argument("-N", dest="is_stream", action="store_true")
    options.add_argument("--max-time", type=float)
    options.add_argument("-X", dest="method")
    options.add_argument("-H", dest="headers", action="append", default=[])
    options.add_argument("-d", dest="body")
    options.add_argument("url")
    return options


def examples(page: str) -> Iterator[Example]:
    """Every operation of the page in its order; each has one example and says one status."""
    for heading, text in SECTION.findall(page):
        (command,) = COMMAND.findall(text)
        (status,) = STATUS.findall(text)
        shown = ANSWER.findall(text)
        yield Example(
            heading=heading,
            command=command,
            status=int(status),
            answer=json.loads(shown[0]) if shown else None,
        )
