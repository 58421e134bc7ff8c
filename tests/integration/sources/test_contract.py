"""Every kind of source under the suite that all of them must pass (S7)."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.support.event_places import Folder, JetStream, Place, Stream, Table, Topic

from rota.core.source import Source
from rota.sdk.testing.source_contract import SourceContract
from rota.sources import folder, kafka, nats, outbox, redis_streams


class Kept(SourceContract):
    """What they have in common here: the place is a fixture."""

    __test__ = False
    place: Place

    def options(self) -> dict[str, Any]:
        return self.place.options()

    async def put(self, *texts: str) -> None:
        await self.place.put(*texts)


class TestFolder(Kept):
    __test__ = True
    bad_options = (
        {},
        None,
        {"path": "~/in"},
        {"path": 7},
        {"path": "/in", "done": "~out"},
        {"path": "/in", "done": "/in"},
        {"path": "/in", "settle": "soon"},
        {"path": "/in", "settle": "1h"},
    )

    @pytest.fixture(autouse=True)
    def _place(self, folder: Folder) -> None:
        self.place = folder

    def make(self, options: Mapping[str, Any]) -> Source:
        return folder.make(options)


class TestFolderThatIsEmptied(TestFolder):
    @pytest.fixture(autouse=True)
    def _place(self, folder: Folder) -> None:
        self.place = Folder(folder.path, {"done": str(folder.path / "done")})


class TestTable(Kept):
    __test__ = True
    bad_options = (
        {},
        {"url": "mysql://x/y", "table": "t"},
        {"url": "postgresql://x/y"},
        {"url": "postgresql://x/y", "table": ""},
        {"url": "postgresql://x/y", "table": "t", "after": "burn"},
        {"url": "postgresql://x/y", "table": "t", "after": "mark"},
        {"url": "postgresql://x/y", "table": "t", "mark_column": "m"},
    )

    @pytest.fixture(autouse=True)
    def _place(self, postgres_table: Table) -> None:
        self.place = postgres_table

    def make(self, options: Mapping[str, Any]) -> Source:
        return outbox.make(options)


class TestTableThatIsEmptied(TestTable):
    @pytest.fixture(autouse=True)
    def _place(self, postgres_table: Table) -> None:
        self.place = Table(postgres_table.url, {"after": "delete"}, postgres_table.name)


class TestTableThatIsMarked(TestTable):
    @pytest.fixture(autouse=True)
    def _place(self, postgres_table: Table) -> None:
        more = {"after": "mark", "mark_column": "taken_at"}
        self.place = Table(postgres_table.url, more, postgres_table.name)


class TestKafka(Kept):
    __test__ = True
    bad_options = (
        {},
        {"servers": "k:9092"},
        {"servers": "k:9092", "topics": []},
        {"servers": "k:9092", "topics": [7]},
        {"servers": "k:9092", "topics": "t", "begin": "middle"},
        {"servers": "k:9092", "topics": "t", "settings": "x"},
        {"servers": "k:9092", "topics": "t", "settings": {"x": []}},
    )

    @pytest.fixture(autouse=True)
    def _place(self, topic: Topic) -> None:
        self.place = topic

    def make(self, options: Mapping[str, Any]) -> Source:
        return kafka.make(options)


class TestRedisStreams(Kept):
    __test__ = True
    bad_options = (
        {},
        {"url": "redis://r"},
        {"url": "redis://r", "stream": 7},
        {"url": "redis://r", "stream": "s", "after": "mark"},
        {"url": "redis://r", "stream": "s", "claim_after": 60},
    )

    @pytest.fixture(autouse=True)
    def _place(self, stream: Stream) -> None:
        self.place = stream

    def make(self, options: Mapping[str, Any]) -> Source:
        return redis_streams.make(options)


class TestNats(Kept):
    __test__ = True
    bad_options = (
        {},
        {"servers": "nats://n"},
        {"servers": [], "stream": "s"},
        {"servers": "nats://n", "stream": "s", "ack_wait": "1ms"},
        {"servers": "nats://n", "stream": "s", "begin": "now"},
    )

    @pytest.fixture(autouse=True)
    def _place(self, jet_stream: JetStream) -> None:
        self.place = jet_stream

    def make(self, options: Mapping[str, Any]) -> Source:
        return nats.make(options)
