"""Every contract of .importlinter is broken once and seen to fail."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = Path(sys.executable).with_name("lint-imports")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources that a test may damage."""
    copy = tmp_path_factory.mktemp("sources")
    for package in ("rota", "rota_bench"):
        source = ROOT / "src" / package
        shutil.copytree(source, copy / package, ignore=shutil.ignore_patterns("*.pyc"))
    shutil.copy(ROOT / ".importlinter", copy)
    return copy


def lint(sources: Path) -> tuple[bool, str]:
    done = subprocess.run(
        [LINT, "--no-cache"],
        cwd=sources,
        env={"PYTHONPATH": str(sources), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == 0, done.stdout + done.stderr


def test_the_sources_as_they_are_keep_the_rules(sources: Path) -> None:
    kept, said = lint(sources)

    assert kept, said


@pytest.mark.parametrize(
    ("file", "line", "rule"),
    [
        ("core/states.py", "import rota.store", "Packages import only from the layers below"),
        ("store/jobs.py", "import rota.config", "Packages import only from the layers below"),
        ("runtime/service.py", "import rota.engine", "Packages import only from the layers below"),
        (
            "engine/dispatch/run_claimer.py",
            "import rota.engine.recording",
            "do not import each other",
        ),
        ("executors/shell/limits.py", "import rota.executors.http", "do not import each other"),
        ("sources/nats/source.py", "import rota.sources.kafka", "do not import each other"),
        ("sources/options.py", "import rota.engine", "Packages import only from the layers below"),
        ("sources/folder/source.py", "import rota.store", "Sources import nothing but core"),
        ("core/policy.py", "import random", "Core is pure"),
        ("core/time/tick.py", "import time", "Core is pure"),
        (
            "engine/maintenance/partition_maintainer.py",
            "import asyncpg",
            "Only the store imports the driver",
        ),
        ("cli/output.py", "import asyncpg", "Only the store imports the driver"),
        ("../rota_bench/database.py", "import asyncpg", "Only the store imports the driver"),
        ("processes/worker.py", "import rota_bench", "Only the command `rota bench` imports"),
        ("cli/main.py", "import rota_bench.command", "Only the command `rota bench` imports"),
    ],
)
def test_a_broken_rule_is_noticed(sources: Path, file: str, line: str, rule: str) -> None:
    path = sources / "rota" / file
    before = path.read_text()
    path.write_text(f"{before}\n{line}\n")

    kept, said = lint(sources)

    path.write_text(before)
    assert not kept
    assert rule in said


def test_a_room_that_nobody_planned_is_noticed(sources: Path) -> None:
    extra = sources / "rota" / "helpers"
    extra.mkdir()
    (extra / "__init__.py").write_text("")

    kept, said = lint(sources)

    shutil.rmtree(extra)
    assert not kept
    assert "helpers" in said


@pytest.mark.parametrize("heavy", ["asyncpg", "cyclopts", "msgspec", "dateutil"])
def test_importing_rota_stays_light(heavy: str) -> None:
    code = f"import sys, rota; sys.exit({heavy!r} in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
