"""Rows that are written to a table of any PostgreSQL become events. Room: sources/outbox."""

from rota.sources.outbox.source import OutboxSource, make

__all__ = ["OutboxSource", "make"]
