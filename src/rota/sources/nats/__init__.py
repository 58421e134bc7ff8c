"""Messages of a JetStream stream become events. Room: sources/nats."""

from rota.sources.nats.source import NatsSource, make

__all__ = ["NatsSource", "make"]
