"""Reads records of Kafka topics with librdkafka in a thread.

The offsets are stored in Kafka under a consumer group, so that Kafka's own tools show and set them.
They are committed after the events, never before. The source assigns all partitions itself: Rota
has one reader per source, and after a crash the next reader does not wait for a rebalance.

An event's id is topic/partition/offset.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from rota.core.source import EMPTY_BATCH, Batch, Message
from rota.sources.options import SourceOptions, import_library

CALL_TIMEOUT_S: Final = 10.0
# Seconds between checks for new partitions.
PARTITION_CHECK_INTERVAL_S: Final = 30.0
# Settings of librdkafka that the operator cannot override.
FIXED_SETTINGS: Final = {"enable.auto.commit": "false", "enable.auto.offset.store": "false"}

# A topic and the number of a partition.
Partition = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSpec:
    servers: str
    topics: tuple[str, ...]
    group: str
    begin: str
    settings: Mapping[str, str] = field(repr=False)


def make(options: Mapping[str, Any]) -> "KafkaSource":
    return KafkaSource(read_options(options), import_library("confluent_kafka", extra="kafka"))


def read_options(values: Mapping[str, Any]) -> KafkaSpec:
    options = SourceOptions(values)
    spec = KafkaSpec(
        servers=options.read_text("servers", wanted="addresses such as kafka-1:9092,kafka-2:9092"),
        topics=options.read_texts("topics", wanted="a list of topics"),
        group=options.read_optional_text("group", "rota", wanted="the name of a consumer group")
        or "rota",
        begin=options.read_choice("begin", "earliest", "latest"),
        settings=options.read_settings("settings"),
    )
    options.refuse_others()
    return spec


class KafkaSource:
    """Reads Kafka topics. `kafka` is the module confluent_kafka."""

    def __init__(self, spec: KafkaSpec, kafka: Any) -> None:
        self._spec = spec
        self._kafka = kafka
        self._consumer: Any = None
        self._next: dict[Partition, int] = {}
        self._looked_at = 0.0

    async def open(self, position: str | None) -> None:
        del position  # Kafka stores the offsets
        await asyncio.to_thread(self._open)
        self._looked_at = asyncio.get_running_loop().time()

    async def read(self, *, limit: int, within: timedelta) -> Batch:
        now = asyncio.get_running_loop().time()
        if now - self._looked_at > PARTITION_CHECK_INTERVAL_S:
            await asyncio.to_thread(self._assign)
            self._looked_at = now
        records = await asyncio.to_thread(self._consume, limit, within.total_seconds())
        if not records:
            return EMPTY_BATCH
        for record in records:
            self._next[record.topic(), record.partition()] = record.offset() + 1
        messages = [build_message(record) for record in records]
        return Batch(messages=messages, position=self._position())

    async def acknowledge(self, position: str) -> None:
        offsets = [
            self._kafka.TopicPartition(topic, int(number), offset)
            for topic, numbers in json.loads(position).items()
            for number, offset in numbers.items()
        ]
        await asyncio.to_thread(self._commit, offsets)

    async def lag(self) -> int | None:
        return await asyncio.to_thread(self._lag)

    async def close(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await asyncio.to_thread(consumer.close)

    # --- in a thread

    def _open(self) -> None:
        logger = logging.getLogger("rota.sources.kafka")
        settings = {
            "client.id": "rota",
            **self._spec.settings,
            **FIXED_SETTINGS,
            "bootstrap.servers": self._spec.servers,
            "group.id": self._spec.group,
            "auto.offset.reset": self._spec.begin,
        }
        self._consumer = self._kafka.Consumer(settings, logger=logger)
        self._next = {}
        self._assign()

    def _assign(self) -> None:
        """Assign all partitions, new ones at their committed offset or at the beginning."""
        partitions = {found for topic in self._spec.topics for found in self._partitions(topic)}
        added = sorted(partitions - self._next.keys())
        if not added:
            return
        requested = [self._kafka.TopicPartition(*partition) for partition in added]
        for committed in self._consumer.committed(requested, timeout=CALL_TIMEOUT_S):
            raise_kafka_error(committed.error, self._kafka)
            offset = committed.offset if committed.offset >= 0 else self._begin(committed)
            self._next[committed.topic, committed.partition] = offset
        self._consumer.assign(self._offsets())
        # Commit now, so that "latest" means this moment for later readers too.
        self._commit(self._offsets())

    def _partitions(self, topic: str) -> list[Partition]:
        metadata = self._consumer.list_topics(topic, timeout=CALL_TIMEOUT_S).topics[topic]
        raise_kafka_error(metadata.error, self._kafka)
        return [(topic, number) for number in metadata.partitions]

    def _begin(self, partition: Any) -> int:
        low, high = self._consumer.get_watermark_offsets(partition, timeout=CALL_TIMEOUT_S)
        return int(low if self._spec.begin == "earliest" else high)

    def _offsets(self) -> list[Any]:
        return [
            self._kafka.TopicPartition(topic, number, offset)
            for (topic, number), offset in self._next.items()
        ]

    def _consume(self, most: int, seconds: float) -> list[Any]:
        """Wait for the first record; return it with all that are available at once."""
        first = self._consumer.poll(seconds)
        if first is None:
            return []
        records = [first, *self._consumer.consume(most - 1, 0)]
        for record in records:
            raise_kafka_error(record.error(), self._kafka)
        return records

    def _commit(self, offsets: list[Any]) -> None:
        for committed in self._consumer.commit(offsets=offsets, asynchronous=False):
            raise_kafka_error(committed.error, self._kafka)

    def _lag(self) -> int | None:
        total = 0
        for partition in self._offsets():
            _, high = self._consumer.get_watermark_offsets(partition, cached=True)
            total += max(0, high - partition.offset)
        return total

    def _position(self) -> str:
        offsets: dict[str, dict[str, int]] = {}
        for (topic, number), offset in sorted(self._next.items()):
            offsets.setdefault(topic, {})[str(number)] = offset
        return json.dumps(offsets)


def raise_kafka_error(error: Any, kafka: Any) -> None:
    if error is not None:
        raise kafka.KafkaException(error)


def build_message(record: Any) -> Message:
    key, (kind, stamp) = record.key(), record.timestamp()
    headers = {
        name: (value or b"").decode("utf-8", "replace") for name, value in record.headers() or ()
    }
    return Message(
        id=f"{record.topic()}/{record.partition()}/{record.offset()}",
        body=record.value(),
        headers=headers,
        subject=key.decode("utf-8", "replace") if key else None,
        # 0 means that the record has no timestamp.
        time=datetime.fromtimestamp(stamp / 1000, UTC) if kind else None,
    )
