"""Entries of a Redis stream become events. Room: sources/redis_streams."""

from rota.sources.redis_streams.source import RedisSource, make

__all__ = ["RedisSource", "make"]
