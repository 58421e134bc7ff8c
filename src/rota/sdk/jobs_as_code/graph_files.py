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
from rota.sdk.jobs_as_code import yaml_reader
from rota.sdk.jobs_as_code.problems import FilePosition, FileProblem, InvalidFile
from rota.sdk.jobs_as_code.yaml_reader import ValuePath, YamlDocument

PATH_PART: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
GRAPH_FIELD: Final = "graph"
NO_GRAPH: Final = (
    "no graph found; expected steps, a job with a graph, or a manifest with such a job"
)


class FileGraph(NamedTuple):
    """A graph of a file, its name and its path in the file."""

    name: str
    raw: Any
    path: ValuePath


def find_graph_errors(text: YamlDocument, job: Any, path: ValuePath) -> Iterator[FileProblem]:
    """Yield the errors of the graph of the job at a path."""
    if job.get(GRAPH_FIELD) is None:
        return
    if job.get("kind", job.get("job_type", GRAPH_FIELD)) != GRAPH_FIELD:
        yield FileProblem(
            text.find_position((*path, "kind")), "a job with a graph must have kind graph"
        )
        return
    yield from _graph_errors(text, FileGraph("", job[GRAPH_FIELD], (*path, GRAPH_FIELD)))


def _graph_errors(text: YamlDocument, found: FileGraph) -> Iterator[FileProblem]:
    try:
        read_graph(found.raw)
    except InvalidInput as error:
        spot = text.find_position((*found.path, *parse_field_path(error.field)[1:]))
        yield FileProblem(spot, f"{shorten_value(error.value)} is invalid: {error.wanted}")


def parse_field_path(field: str) -> ValuePath:
    """Parse a field such as `graph.steps[3].needs[1]` into a path."""
    return tuple(int(part[1]) if part[1] else part[2] for part in PATH_PART.finditer(field))


def load_graphs(file: File) -> list[tuple[str, StepGraph]]:
    """Load the graphs of a file, by name. `InvalidFile` lists all errors by line and column."""
    texts = _documents(file)
    if len(texts) != 1:
        message = f"expected one YAML document, found {len(texts)}"
        raise InvalidFile([FileProblem(FilePosition(str(file), 1, 1), message)])
    text = texts[0]
    graphs = list(_graphs(text, file.stem))
    errors = [error for graph in graphs for error in _graph_errors(text, graph)]
    if errors:
        raise InvalidFile(errors)
    if not graphs:
        raise InvalidFile([FileProblem(text.find_position(()), NO_GRAPH)])
    return [(graph.name, read_graph(graph.raw)) for graph in graphs]


def _documents(file: File) -> list[YamlDocument]:
    try:
        return yaml_reader.read_documents(file.read_bytes().decode("utf-8-sig"), str(file))
    except OSError as error:
        wanted = f"expected a readable file: {error.strerror}"
        raise InvalidInput("file", str(file), wanted) from None
    except UnicodeDecodeError:
        raise InvalidInput("file", str(file), "expected a text file in UTF-8") from None


def _graphs(text: YamlDocument, name: str) -> Iterator[FileGraph]:
    root = text.value
    if not isinstance(root, dict):
        return
    if "steps" in root:
        yield FileGraph(name, root, ())
    elif GRAPH_FIELD in root:
        yield FileGraph(str(root.get("name", name)), root[GRAPH_FIELD], (GRAPH_FIELD,))
    jobs = root.get("jobs")
    for job_name, job in jobs.items() if isinstance(jobs, dict) else ():
        if isinstance(job, dict) and job.get(GRAPH_FIELD) is not None:
            yield FileGraph(job_name, job[GRAPH_FIELD], ("jobs", job_name, GRAPH_FIELD))
