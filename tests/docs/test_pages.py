"""Every code block of the documentation is carried out, page by page, as it is printed (I3)."""

from pathlib import Path

import pytest
from tests.docs.pages import ROOT, blocks, is_live, pages
from tests.docs.play import Play
from tests.docs.stages import EMPTY, STAGES


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_works_as_it_is_printed(
    page: Path, tmp_path: Path, database: str
) -> None:
    name = str(page.relative_to(ROOT))
    stage = STAGES.get(name, EMPTY)
    play = Play(tmp_path)
    if stage.has_database:
        play.environment["ROTA_DATABASE_URL"] = database
    try:
        for file, text in stage.files.items():
            (tmp_path / file).write_text(text)
        for server in stage.servers:
            play.serve(server)
        for block in filter(is_live, blocks(page)):
            try:
                play.carry_out(block)
            except AssertionError as error:
                pytest.fail(f"{name}, line {block.line}: {error}")
    finally:
        play.stop()
