"""The HTTP executor under the suite that every executor must pass (E17)."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.integration.executors.http.target_server import TargetServer, target_server

from rota.executors.http import HttpExecutor, TargetGuard
from rota.sdk.testing.executor_contract import ExecutorContract


class TestHttp(ExecutorContract):
    bad_payloads = ({}, {"url": "ftp://example.org/"}, {"url": 7}, "http://x/", None, 7, [])
    target: TargetServer

    @pytest.fixture(autouse=True)
    async def serve(self) -> AsyncIterator[None]:
        async with target_server() as server:
            self.target = server
            self.good_payload = {"url": f"{server.url}/echo"}
            self.failing_payload = {"url": f"{server.url}/status/500"}
            self.slow_payload = {"url": f"{server.url}/silent"}
            self.loud_payload = {"url": f"{server.url}/endless"}
            yield

    def make_executor(self) -> HttpExecutor:
        guard = TargetGuard(allow_networks=("127.0.0.1/32",), allow_ports=(self.target.port,))
        return HttpExecutor(guard=guard)

    def speaking_payload(self, word: str) -> Any:
        return {"url": f"{self.target.url}/echo/{word}"}
