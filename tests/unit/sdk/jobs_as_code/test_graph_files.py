"""Graphs in files: read, and refused by line and column (I6, D2)."""

from pathlib import Path

import pytest

from rota.core.errors import InvalidInput
from rota.sdk.jobs_as_code import graph_files, manifest, yaml_reader
from rota.sdk.jobs_as_code.problems import InvalidFile

MANIFEST = """\
version: 1
project: etl
jobs:
  plain: {kind: x}
  nightly:
    kind: graph
    graph:
      steps:
        - {name: extract, kind: etl.extract}
        - name: load
          kind: etl.load
          needs: [extract]
          payload:
            rows: {$: steps.extract.result.rows}
"""
STEPS = "steps:\n  - {name: a, kind: x}\n  - {name: b, kind: x, needs: [a]}\n"


def written(folder: Path, text: str, name: str = "flow.yaml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "names", "steps"),
    [
        (MANIFEST, ["nightly"], 2),
        (STEPS, ["flow"], 2),
        ("name: job\nkind: graph\ngraph:\n  " + STEPS.replace("\n", "\n  "), ["job"], 2),
        ('{"steps": [{"name": "a", "kind": "x"}]}', ["flow"], 1),
    ],
    ids=["manifest", "steps", "job", "json"],
)
def test_a_file_has_graphs_in_any_of_the_three_forms(
    tmp_path: Path, text: str, names: list[str], steps: int
) -> None:
    found = graph_files.load_graphs(written(tmp_path, text))

    assert [name for name, _ in found] == names
    assert len(found[0][1].steps) == steps


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (MANIFEST.replace("[extract]", "[extarct]"), "12:19", "no such step"),
        (MANIFEST.replace("result.rows", "reslut.rows"), "14:20", "state, result, error"),
        (MANIFEST.replace("kind: etl.load", "kidn: etl.load"), "11:11", "did you mean kind?"),
        (STEPS.replace("[a]", "[b]"), "3:32", "itself"),
        ("steps: []\n", "1:1", "a list of 1 to 1000 steps"),
        ("a: 1\n", "1:1", "no graph found"),
        ("- a\n", "1:1", "no graph found"),
        ("", "1:1", "one YAML document"),
        ("steps: [", "1:9", "invalid YAML"),
    ],
    ids=["unknown", "expression", "field", "itself", "empty", "none", "list", "nothing", "broken"],
)
def test_what_is_wrong_is_told_by_line_and_column(
    tmp_path: Path, text: str, place: str, said: str
) -> None:
    file = written(tmp_path, text)

    with pytest.raises(InvalidFile) as refused:
        graph_files.load_graphs(file)

    (wrong,) = refused.value.problems
    assert str(wrong).startswith(f"{file}:{place}: ")
    assert said in str(wrong)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file"):
        graph_files.load_graphs(tmp_path / "none.yaml")


def test_a_manifest_tells_what_is_wrong_with_its_graphs_before_any_server_is_asked() -> None:
    text = MANIFEST.replace("[extract]", "[nope]").replace("{kind: x}", "{kind: x, graph: {}}")

    with pytest.raises(InvalidFile) as refused:
        manifest.combine_documents(yaml_reader.read_documents(text, "f"), "f")

    assert [str(each).split(";")[0] for each in refused.value.problems] == [
        "f:4:11: a job with a graph must have kind graph",
        "f:12:19: 'nope' is invalid: no such step",
    ]
