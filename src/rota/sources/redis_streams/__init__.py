"""Turns entries of a Redis stream into events."""

from rota.sources.redis_streams.source import RedisSource, make

__all__ = ["RedisSource", "make"]
