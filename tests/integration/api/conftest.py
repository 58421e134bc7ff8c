"""An API for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.raw_http import Dial
from tests.support.serving import Served, serving


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(database, tmp_path) as served:
        yield served


@pytest.fixture
async def dial() -> AsyncIterator[Dial]:
    dialing = Dial()
    try:
        yield dialing
    finally:
        dialing.close()
