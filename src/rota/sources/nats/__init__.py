"""Turns messages of a NATS JetStream stream into events."""

from rota.sources.nats.source import NatsSource, make

__all__ = ["NatsSource", "make"]
