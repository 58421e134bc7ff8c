"""One loop and one connection for all examples of a module."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest

from rota.store.embedded import Embedded
from rota.store.pool import DatabaseAccess, open_connection
from tests.simulation.machine import Simulation
from tests.support.databases import clone_url, drop


@pytest.fixture(scope="module")
def simulation(server: Embedded) -> Iterator[type[Simulation]]:
    """A state machine with a database of its own, planned like a node's connections."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        url = runner.run(clone_url(server.url))
        conn = runner.run(
            stack.enter_async_context(open_connection(DatabaseAccess(url=url), hot=True))
        )
        given = {"runner": runner, "conn": conn}
        yield type("Simulation", (Simulation,), given)
        runner.run(stack.aclose())
        runner.run(drop(server.url, url))
