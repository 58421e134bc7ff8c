"""The built wheel holds the product only; benchmarks and documentation generators stay behind."""

import os
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.support.built_wheel import ROOT, build_wheel, install_wheel

PATIENCE = 60
USAGE = 64


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_wheel(wheel, tmp_path_factory.mktemp("installed") / "venv", extra="embedded")


def test_the_wheel_holds_one_package_and_its_metadata(wheel: Path) -> None:
    with ZipFile(wheel) as opened:
        folders = {name.partition("/")[0] for name in opened.namelist()}

    assert folders == {"rota", f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"}


def test_the_wheel_holds_no_benchmark_and_no_generator_of_pages(wheel: Path) -> None:
    with ZipFile(wheel) as opened:
        held = {Path(name).name for name in opened.namelist()}
        text = "\n".join(
            opened.read(name).decode() for name in opened.namelist() if name.endswith(".py")
        )
    outside = ("src/rota_bench", "tools")
    found = [path for folder in outside for path in (ROOT / folder).rglob("*.py")]
    headings = {path.read_text().partition("\n")[0] for path in found} - {""}

    assert len(headings) > 30
    assert {"api_page.py", "cli_page.py", "settings_page.py", "field_tables.py"}.isdisjoint(held)
    assert [heading for heading in sorted(headings) if heading in text] == []


@pytest.mark.parametrize(
    "words", [(), ("drain",), ("--quick", "--only", "pickup", "--json")], ids=" ".join
)
def test_bench_of_an_installed_wheel_says_where_it_is(
    programs: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ROTA_")}
    kept.pop("PYTHONPATH", None)

    done = subprocess.run(
        [programs / "rota", "bench", *words],
        cwd=tmp_path,
        env=kept,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )

    assert done.returncode == USAGE
    assert done.stdout == ""
    assert done.stderr == (
        "rota: rota bench is part of the source repository; clone it and run `make bench`\n"
    )
