"""The webhook executor under the suite that every executor must pass (E17)."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from tests.integration.executors.http.target_server import TargetServer, target_server

from rota.executors.http import TargetGuard, WebhookExecutor, build_webhook_signing
from rota.sdk.testing.executor_contract import ExecutorContract
from rota.sdk.webhooks import new_secret

SECRET = new_secret()


class TestWebhook(ExecutorContract):
    bad_payloads: Sequence[Any] = (
        *({}, None, 7, [], "partner", {"webhook": "partner"}),
        {"webhook": "partner", "url": "https://example.org/", "type": "not a type"},
        {"webhook": "nobody", "url": "https://example.org/", "type": "a.b"},
        {"webhook": "partner", "url": "ftp://example.org/", "type": "a.b"},
    )
    target: TargetServer

    @pytest.fixture(autouse=True)
    async def serve(self) -> AsyncIterator[None]:
        async with target_server() as server:
            self.target = server
            self.good_payload = self.payload("/echo")
            self.failing_payload = self.payload("/status/500")
            self.slow_payload = self.payload("/silent") | {"timeout": "90s"}
            self.loud_payload = self.payload("/endless")
            yield

    def payload(self, path: str) -> dict[str, Any]:
        return {"webhook": "partner", "url": self.target.url + path, "type": "invoice.paid"}

    def make_executor(self) -> WebhookExecutor:
        guard = TargetGuard(allow_networks=("127.0.0.1/32",), allow_ports=(self.target.port,))
        return WebhookExecutor({"partner": build_webhook_signing([SECRET])}, guard=guard)

    def speaking_payload(self, word: str) -> Any:
        return self.payload(f"/echo/{word}")
