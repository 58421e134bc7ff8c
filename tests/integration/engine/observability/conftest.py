"""A feed on the world's connection, and a server without the transactions of other tests."""

import asyncio
import os
from collections.abc import Iterator

import pytest
from tests.conftest import fast_folder
from tests.support.databases import make_template
from tests.support.standing import Standing
from tests.support.world import World

from rota.engine.observability.feed import LiveFeed
from rota.store.embedded import Embedded, start


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """A server of this test process alone. The feed orders what it tells by transactions, which are
    numbered for the whole server: an open one of another test would hold it up.
    """
    process = os.environ.get("PYTEST_XDIST_WORKER", "only")
    with start(fast_folder(tmp_path_factory) / f"feed-{process}", durable=False) as embedded:
        asyncio.run(make_template(embedded.url))
        yield embedded


@pytest.fixture
def feed(world: World) -> LiveFeed:
    return LiveFeed(Standing(world.conn))
