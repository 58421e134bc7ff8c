"""`rota init` makes a project that runs, submits and passes its tests as it is (I3, I4)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rota.testing import serving

ROTA = Path(sys.executable).with_name("rota")


def rota(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROTA, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def python(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_project_runs_submits_and_passes_its_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = rota(tmp_path, "init", "my-shop")
    shop = tmp_path / "my-shop"
    monkeypatch.chdir(shop)
    tested = python(shop, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".")
    with serving(tmp_path / "rota", "jobs:app") as server:
        sent = python(shop, "send.py", ROTA_URL=server.url, ROTA_API_KEY=server.key)
        with server.client() as client:
            scheduled = client.list_jobs(status="active").items

    assert (made.returncode, made.stderr) == (0, "")
    assert "cd my-shop && rota up jobs:app" in made.stdout
    assert "2 passed" in tested.stdout, tested.stdout
    assert sent.stdout == "{'pages': 5}\n", sent.stderr
    assert [job.name for job in scheduled] == ["my-shop.hello"]


def test_nothing_is_overwritten_and_nothing_is_left_half_made(tmp_path: Path) -> None:
    (tmp_path / "send.py").write_text("mine")

    refused = rota(tmp_path, "init")

    assert refused.returncode == 64
    assert "send.py" in refused.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["send.py"]


@pytest.mark.parametrize("name", ["", "7up", "a b", "x" * 41])
def test_a_name_that_kinds_cannot_begin_with_is_refused(tmp_path: Path, name: str) -> None:
    refused = rota(tmp_path, "init", "here", "--name", name)

    assert refused.returncode == 64
    assert not (tmp_path / "here").exists()
