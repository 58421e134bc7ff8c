"""The notify executor under the suite that every executor must pass (E17)."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from tests.integration.executors.http.target_server import TargetServer, target_server
from tests.support.silence import Silence, silence

from rota.executors.notify import NotifyChannel, NotifyExecutor
from rota.sdk.testing.executor_contract import CONCURRENT_ATTEMPTS, ExecutorContract

# Apprise imports what the next Python no longer has, where there still is one.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

# The log of an attempt names its channels, so each word of the suite is one.
WORDS = [f"word-{number}-of-this-attempt" for number in range(CONCURRENT_ATTEMPTS)]


class TestNotify(ExecutorContract):
    good_payload = {"channel": "ops", "title": "Backup", "body": "done"}  # noqa: RUF012
    bad_payloads: Sequence[Any] = (
        *({}, None, 7, [], "done", {"channel": "ops"}, {"channel": "ops", "body": 7}),
        {"channel": "nobody", "body": "done"},
        {"channel": "ops", "body": "{unknown}"},
        {"channel": "ops", "body": "done", "attach": "/etc/passwd"},
    )
    failing_payload = {"channel": "broken", "body": "done"}  # noqa: RUF012
    slow_payload = {"channel": "silent", "body": "done"}  # noqa: RUF012
    loud_payload = {"channel": "ops", "body": "x" * 200_000}  # noqa: RUF012
    target: TargetServer
    silent: Silence

    @pytest.fixture(autouse=True)
    async def serve(self) -> AsyncIterator[None]:
        async with target_server() as self.target, silence() as self.silent:
            yield

    def make_executor(self) -> NotifyExecutor:
        at = f"json://127.0.0.1:{self.target.port}"
        return NotifyExecutor(
            {
                "ops": NotifyChannel(url=f"{at}/echo"),
                "broken": NotifyChannel(url=f"{at}/status/500"),
                "silent": NotifyChannel(
                    url=f"json://127.0.0.1:{self.silent.port}", timeout=timedelta(minutes=2)
                ),
                **{word: NotifyChannel(url=f"{at}/echo/{word}") for word in WORDS},
            }
        )

    def speaking_payload(self, word: str) -> Any:
        return {"channel": word, "body": "done"}
