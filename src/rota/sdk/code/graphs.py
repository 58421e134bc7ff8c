"""Reads graphs from files and reports their errors by line and column.

A file is a manifest with jobs of kind graph, one such job, or a graph's steps alone.
"""

import re
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any, Final, NamedTuple

from rota.contract.graph import read_graph
from rota.core.errors import InvalidInput, shorten_value
from rota.core.graphs import StepGraph
from rota.sdk.code import yaml_text
from rota.sdk.code.problems import FileRefused, Spot, Wrong
from rota.sdk.code.yaml_text import Path, Text

PART: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
KIND: Final = "graph"
NO_GRAPH: Final = (
    "no graph found; expected steps, a job with a graph, or a manifest with such a job"
)


class Found(NamedTuple):
    """A graph of a file, its name and its path in the file."""

    name: str
    raw: Any
    path: Path


def wrongs(text: Text, job: Any, path: Path) -> Iterator[Wrong]:
    """Yield the errors of the graph of the job at a path."""
    if job.get(KIND) is None:
        return
    if job.get("kind", job.get("job_type", KIND)) != KIND:
        yield Wrong(text.spot((*path, "kind")), "a job with a graph must have kind graph")
        return
    yield from _graph_errors(text, Found("", job[KIND], (*path, KIND)))


def _graph_errors(text: Text, found: Found) -> Iterator[Wrong]:
    try:
        read_graph(found.raw)
    except InvalidInput as error:
        spot = text.spot((*found.path, *place_of(error.field)[1:]))
        yield Wrong(spot, f"{shorten_value(error.value)} is invalid: {error.wanted}")


def place_of(field: str) -> Path:
    """Parse a field such as `graph.steps[3].needs[1]` into a path."""
    return tuple(int(part[1]) if part[1] else part[2] for part in PART.finditer(field))


def load(file: File) -> list[tuple[str, StepGraph]]:
    """Load the graphs of a file, by name. `FileRefused` lists all errors by line and column."""
    texts = _documents(file)
    if len(texts) != 1:
        message = f"expected one YAML document, found {len(texts)}"
        raise FileRefused([Wrong(Spot(str(file), 1, 1), message)])
    text = texts[0]
    graphs = list(_graphs(text, file.stem))
    errors = [error for graph in graphs for error in _graph_errors(text, graph)]
    if errors:
        raise FileRefused(errors)
    if not graphs:
        raise FileRefused([Wrong(text.spot(()), NO_GRAPH)])
    return [(graph.name, read_graph(graph.raw)) for graph in graphs]


def _documents(file: File) -> list[Text]:
    try:
        return yaml_text.read(file.read_bytes().decode("utf-8-sig"), str(file))
    except OSError as error:
        wanted = f"expected a readable file: {error.strerror}"
        raise InvalidInput("file", str(file), wanted) from None
    except UnicodeDecodeError:
        raise InvalidInput("file", str(file), "expected a text file in UTF-8") from None


def _graphs(text: Text, name: str) -> Iterator[Found]:
    root = text.value
    if not isinstance(root, dict):
        return
    if "steps" in root:
        yield Found(name, root, ())
    elif KIND in root:
        yield Found(str(root.get("name", name)), root[KIND], (KIND,))
    jobs = root.get("jobs")
    for job_name, job in jobs.items() if isinstance(jobs, dict) else ():
        if isinstance(job, dict) and job.get(KIND) is not None:
            yield Found(job_name, job[KIND], ("jobs", job_name, KIND))
