"""Turns rows of a table in any PostgreSQL database into events."""

from rota.sources.outbox.source import OutboxSource, make

__all__ = ["OutboxSource", "make"]
