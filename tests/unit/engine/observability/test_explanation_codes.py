"""Every code that an explanation may have is in the reference (E18)."""

import re
from inspect import getsource
from pathlib import Path

from rota.core.states import FINAL_STATES
from rota.engine.observability import explanations

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "explanations.md"


def test_the_reference_has_all_codes_and_no_other() -> None:
    codes = set(re.findall(r'_build\(\s*"(\w+)"', getsource(explanations)))
    rows = [row.split("|")[1] for row in PAGE.read_text().splitlines() if row.startswith("| `")]

    assert set(re.findall(r"`(\w+)`", "".join(rows))) == codes | {
        state.value for state in FINAL_STATES
    }
