"""Parses, searches and describes recurrence rules (RFC 5545).

docs/reference/schedules.md lists the supported part of the RFC. docs/adr/0005-schedules.md explains
why Rota has its own search and uses python-dateutil only to test it.
"""

from rota.core.time.rrule.rule import Part, Rrule
from rota.core.time.rrule.search import next_tick
from rota.core.time.rrule.text import parse, timezone_of

__all__ = ["Part", "Rrule", "next_tick", "parse", "timezone_of"]
