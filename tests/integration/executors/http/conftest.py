"""A server to call, and an executor whose guard lets it be called."""

from collections.abc import AsyncIterator

import pytest
from tests.integration.executors.http.target_server import TargetServer, target_server

from rota.executors.http import HttpExecutor, TargetGuard


@pytest.fixture
async def server() -> AsyncIterator[TargetServer]:
    async with target_server() as running:
        yield running


@pytest.fixture
async def executor(server: TargetServer) -> AsyncIterator[HttpExecutor]:
    guard = TargetGuard(allow_networks=("127.0.0.1/32",), allow_ports=(server.port,))
    opened = HttpExecutor(guard=guard)
    await opened.open()
    yield opened
    await opened.close()
