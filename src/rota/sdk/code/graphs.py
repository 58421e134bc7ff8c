"""Graphs in files: what is wrong with one by line and column, and those that a file has.

Room: sdk/code. A file is a manifest with jobs of the kind graph, one such job, or steps alone.
"""

import re
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any, Final, NamedTuple

from rota.contract.graph import read_graph
from rota.core.errors import InvalidInput, cut
from rota.core.graphs import Graph
from rota.sdk.code import yaml_text
from rota.sdk.code.problems import FileRefused, Spot, Wrong
from rota.sdk.code.yaml_text import Path, Text

PART: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
KIND: Final = "graph"
NO_GRAPH: Final = "there is no graph in it: steps, a job with a graph, or jobs of which one has one"


class Found(NamedTuple):
    """A graph of a file, its name, and where it stands."""

    name: str
    raw: Any
    path: Path


def wrongs(text: Text, job: Any, path: Path) -> Iterator[Wrong]:
    """What is wrong with the graph of a job that stands at a path."""
    if job.get(KIND) is None:
        return
    if job.get("kind", job.get("job_type", KIND)) != KIND:
        yield Wrong(text.spot((*path, "kind")), "the kind of a job with a graph is graph")
        return
    yield from _wrongs(text, Found("", job[KIND], (*path, KIND)))


def _wrongs(text: Text, found: Found) -> Iterator[Wrong]:
    try:
        read_graph(found.raw)
    except InvalidInput as error:
        spot = text.spot((*found.path, *place_of(error.field)[1:]))
        yield Wrong(spot, f"{cut(error.value)} is not accepted; {error.wanted}")


def place_of(field: str) -> Path:
    """`graph.steps[3].needs[1]` as a path."""
    return tuple(int(part[1]) if part[1] else part[2] for part in PART.finditer(field))


def load(file: File) -> list[tuple[str, Graph]]:
    """The graphs of a file, by name; all that is wrong with it is told by line and column."""
    texts = _documents(file)
    if len(texts) != 1:
        raise FileRefused([Wrong(Spot(str(file), 1, 1), "a file with one document is needed")])
    text = texts[0]
    found = list(_graphs(text, file.stem))
    wrong = [each for graph in found for each in _wrongs(text, graph)]
    if wrong:
        raise FileRefused(wrong)
    if not found:
        raise FileRefused([Wrong(text.spot(()), NO_GRAPH)])
    return [(each.name, read_graph(each.raw)) for each in found]


def _documents(file: File) -> list[Text]:
    try:
        return yaml_text.read(file.read_bytes().decode("utf-8-sig"), str(file))
    except OSError as error:
        wanted = f"a file that can be read: {error.strerror}"
        raise InvalidInput("file", str(file), wanted) from None
    except UnicodeDecodeError:
        raise InvalidInput("file", str(file), "a text file in UTF-8") from None


def _graphs(text: Text, name: str) -> Iterator[Found]:
    whole = text.value
    if not isinstance(whole, dict):
        return
    if "steps" in whole:
        yield Found(name, whole, ())
    elif KIND in whole:
        yield Found(str(whole.get("name", name)), whole[KIND], (KIND,))
    jobs = whole.get("jobs")
    for each, job in jobs.items() if isinstance(jobs, dict) else ():
        if isinstance(job, dict) and job.get(KIND) is not None:
            yield Found(each, job[KIND], ("jobs", each, KIND))
