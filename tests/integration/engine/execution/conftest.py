"""A shop for each test: a database, a registry of handlers, and workers when asked for."""

from collections.abc import AsyncIterator

import pytest
from tests.support.shop import Shop, open_shop


@pytest.fixture
async def shop(database: str) -> AsyncIterator[Shop]:
    async with open_shop(database) as opened:
        yield opened
