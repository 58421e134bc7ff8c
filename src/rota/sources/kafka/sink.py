"""Publishes events to a Kafka topic with librdkafka's idempotent producer.

The key of a record is the job, so the events of a job are in one partition and in order. A batch is
published when every in-sync replica has each of its records.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rota.core.sink import SinkMessage
from rota.sources.options import SourceOptions, import_library

PUBLISH_TIMEOUT_S: Final = 15.0
# Settings of librdkafka that the operator cannot override.
FIXED_SETTINGS: Final = {"enable.idempotence": "true", "acks": "all"}


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSinkSpec:
    servers: str
    topic: str
    settings: Mapping[str, str] = field(repr=False)


def make(options: Mapping[str, Any]) -> "KafkaSink":
    return KafkaSink(read_options(options), import_library("confluent_kafka", extra="kafka"))


def read_options(values: Mapping[str, Any]) -> KafkaSinkSpec:
    options = SourceOptions(values)
    spec = KafkaSinkSpec(
        servers=options.read_text("servers", wanted="addresses such as kafka-1:9092,kafka-2:9092"),
        topic=options.read_text("topic", wanted="the name of a topic"),
        settings=options.read_settings("settings"),
    )
    options.refuse_others()
    return spec


class KafkaSink:
    """Publishes to a topic. `kafka` is the module confluent_kafka."""

    def __init__(self, spec: KafkaSinkSpec, kafka: Any) -> None:
        self._spec = spec
        self._kafka = kafka
        self._producer: Any = None

    async def open(self) -> None:
        self._producer = await asyncio.to_thread(self._open)

    async def publish(self, messages: Sequence[SinkMessage], /) -> None:
        await asyncio.to_thread(self._publish, messages)

    async def close(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            await asyncio.to_thread(producer.purge)

    # --- in a thread

    def _open(self) -> Any:
        settings = {
            "client.id": "rota",
            "message.timeout.ms": str(round(1000 * PUBLISH_TIMEOUT_S)),
            **self._spec.settings,
            **FIXED_SETTINGS,
            "bootstrap.servers": self._spec.servers,
        }
        return self._kafka.Producer(settings, logger=logging.getLogger("rota.sources.kafka"))

    def _publish(self, messages: Sequence[SinkMessage]) -> None:
        failed: list[Any] = []

        def note(error: Any, _record: Any) -> None:
            if error is not None:
                failed.append(error)

        for message in messages:
            headers = {"content-type": message.media_type, "id": message.id}
            self._produce(message, headers, note)
        left = self._producer.flush(PUBLISH_TIMEOUT_S)
        if failed:
            raise self._kafka.KafkaException(failed[0])
        if left:
            raise TimeoutError(f"{left} records were not acknowledged")

    def _produce(self, message: SinkMessage, headers: Mapping[str, str], note: Any) -> None:
        try:
            self._producer.produce(
                self._spec.topic,
                key=message.key,
                value=message.body,
                headers=dict(headers),
                on_delivery=note,
            )
        except BufferError:
            # The local queue is full: wait until some were sent, then try once more.
            self._producer.flush(PUBLISH_TIMEOUT_S)
            self._producer.produce(
                self._spec.topic,
                key=message.key,
                value=message.body,
                headers=dict(headers),
                on_delivery=note,
            )
