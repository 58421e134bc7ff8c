"""The files printed in the how-to pages can be imported, and their jobs are as described (I3)."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from rota.sdk.testing import run_inline

DOCS = Path(__file__).parents[4] / "docs" / "howto"
FILE = re.compile(r"```python\n# (\w+)\.py\n(.*?)```", re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for file in tmp_path.glob("*.py"):
        sys.modules.pop(file.stem, None)


def printed(page: str, folder: Path) -> dict[str, ModuleType]:
    """The files of a page, imported."""
    files = dict(FILE.findall((DOCS / page).read_text()))
    for name, source in files.items():
        (folder / f"{name}.py").write_text(source)
        sys.modules.pop(name, None)
    return {name: importlib.import_module(name) for name in files}


def test_the_page_about_jobs(folder: Path) -> None:
    pages = printed("write-jobs.md", folder)
    jobs = pages["jobs"]

    (declared,) = jobs.app.declarations()
    ran = run_inline(jobs.charge, {"order": "o-17", "cents": 990})

    assert declared["name"] == "billing.report"
    assert (jobs.report("eu"), declared["payload"]) == ("report for eu", {"region": "eu"})
    assert ran.result == {"order": "o-17", "cents": 990}
    assert "charging o-17" in ran.output
    assert run_inline(pages["loading"].load, {"files": ["a", "b"]}).checkpoints == (1, 2)
    assert [job.kind for job in pages["main"].app] == ["shop.sweep"]


def test_the_page_about_handlers(folder: Path) -> None:
    pages = printed("python-handlers.md", folder)

    assert set(pages) == {"handlers", "importing", "checking"}
    assert len(pages["handlers"].handlers.kinds) == 3
