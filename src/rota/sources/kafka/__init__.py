"""Records of Kafka topics become events. Room: sources/kafka."""

from rota.sources.kafka.source import KafkaSource, make

__all__ = ["KafkaSource", "make"]
