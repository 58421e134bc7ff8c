"""ARCHITECTURE.md names files that exist, and a tick's path stays short."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
PATH_FILES_MAX = 60


def tick_path() -> list[str]:
    section = TEXT.partition("## A tick, from cursor to dashboard")[2].partition(
        "\nThe statements"
    )[0]
    stages = [line for line in section.splitlines() if re.match(r"\d\. ", line)]
    return [file for line in stages for file in re.findall(r"`([\w/]+\.py)`", line)]


def test_a_tick_passes_at_most_sixty_files_and_the_page_says_how_many() -> None:
    files = tick_path()

    assert len(files) == len(set(files))
    assert f"**{len(files)} Python files**" in TEXT
    assert 40 < len(files) <= PATH_FILES_MAX


def test_every_file_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`((?:src/|tests/)?[\w/]+\.(?:py|sql))`", TEXT))
    places = [ROOT, ROOT / "src" / "rota", ROOT / "src" / "rota" / "store" / "sql"]
    places += [ROOT / "src" / "rota" / "api", ROOT / "src" / "rota" / "store"]

    assert {name for name in named if not any((place / name).exists() for place in places)} == set()
