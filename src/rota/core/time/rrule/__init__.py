"""Parses, searches and describes recurrence rules (RFC 5545).

docs/reference/schedules.md lists the supported part of the RFC. docs/adr/0005-schedules.md explains
why Rota has its own search and uses python-dateutil only to test it.
"""

from rota.core.time.rrule.rule import Rrule, RrulePart
from rota.core.time.rrule.search import find_next_tick
from rota.core.time.rrule.syntax import parse_rrule, read_timezone

__all__ = ["Rrule", "RrulePart", "find_next_tick", "parse_rrule", "read_timezone"]
