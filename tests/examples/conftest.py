"""Each example runs as it is, in a copy of its folder, on a real Rota of its own."""

import importlib.util
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from rota.testing import Server, serving

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

Play = Callable[[str], AbstractContextManager[tuple[Server, ModuleType]]]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Start an example: `with play("cleanup") as (server, jobs)`. Set variables before."""

    @contextmanager
    def start(name: str) -> Iterator[tuple[Server, ModuleType]]:
        folder = tmp_path / name
        shutil.copytree(EXAMPLES / name, folder)
        monkeypatch.chdir(folder)
        with serving(tmp_path / "rota", "jobs:app") as server:
            monkeypatch.setenv("ROTA_URL", server.url)
            monkeypatch.setenv("ROTA_API_KEY", server.key)
            yield server, loaded(folder / "jobs.py", name)

    return start


def loaded(file: Path, name: str) -> ModuleType:
    """The example's module, under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
