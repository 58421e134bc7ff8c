"""Turns records of Kafka topics into events."""

from rota.sources.kafka.source import KafkaSource, make

__all__ = ["KafkaSource", "make"]
