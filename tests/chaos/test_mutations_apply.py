"""Every mutation still finds the text that it changes, and leaves valid Python behind."""

import ast
import shutil
from pathlib import Path

import pytest

from tests.chaos.mutations import MUTATIONS, Mutation

SOURCE = Path(__file__).parents[2] / "src"


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_finds_its_text(mutation: Mutation, tmp_path: Path) -> None:
    paths = {edit.path for edit in mutation.edits}
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / path, tmp_path / path)

    for edit in mutation.edits:
        edit.apply(tmp_path)

    for path in paths:
        text = (tmp_path / path).read_text()
        assert text != (SOURCE / path).read_text()
        if path.endswith(".py"):
            ast.parse(text)
