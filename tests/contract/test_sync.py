"""The sync executor under the suite that every executor must pass (E17)."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.support.storing import plant, silent_server

from rota.executors.sync import SyncExecutor, SyncPlace
from rota.sdk.testing.executor_contract import ExecutorContract

HOST_KEY = f"SHA256:{'A' * 43}"


class TestSync(ExecutorContract):
    bad_payloads: Sequence[Any] = (
        *({}, None, 7, [], "in:/", {"from": "in:/"}, {"from": "in:/", "to": 7}),
        {"from": "in:/", "to": "nowhere:/"},
        {"from": "in:/", "to": "in:/"},
        {"from": "in:/a", "to": "in:/"},
        {"from": "in:/../etc", "to": "out:/"},
        {"from": "in:/", "to": "out:/", "mode": "move"},
        {"from": "in:/", "to": "out:/", "include": ["/abs"]},
        {"from": "in:/", "to": "out:/", "parallel": 0},
        {"from": "in:/", "to": "out:/", "max_delete": -1},
        {"from": "in:/", "to": "out:/", "dry_run": "yes"},
        {"from": "in:/", "to": "out:/", "password": "x"},
    )
    places: tuple[SyncPlace, ...]
    root: Path

    @pytest.fixture(autouse=True)
    async def serve(self, tmp_path: Path) -> AsyncIterator[None]:
        server = await silent_server()
        port = server.sockets[0].getsockname()[1]
        self.root = tmp_path / "in"
        plant(self.root, {"good/a.txt": b"a", "good/b/c.txt": b"c"})
        (tmp_path / "out").mkdir()
        self.places = (
            SyncPlace(name="in", url=f"file://{tmp_path}/in"),
            SyncPlace(name="out", url=f"file://{tmp_path}/out"),
            SyncPlace(
                name="silent",
                url=f"sftp://me@127.0.0.1:{port}/",
                secret="x",
                host_keys=(HOST_KEY,),
            ),
        )
        self.good_payload = {"from": "in:/good", "to": "out:/good"}
        self.failing_payload = {"from": "in:/missing", "to": "out:/"}
        self.slow_payload = {"from": "in:/good", "to": "silent:/"}
        yield
        server.close()

    def make_executor(self) -> SyncExecutor:
        return SyncExecutor(self.places)

    def speaking_payload(self, word: str) -> Any:
        plant(self.root / word, {f"{word}.txt": b"x"})
        return {"from": f"in:/{word}", "to": f"out:/{word}"}
