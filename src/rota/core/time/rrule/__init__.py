"""Recurrence rules of RFC 5545: read, searched, put in words.

Room: core/time/rrule. docs/reference/schedules.md says which part of the RFC is here;
docs/adr/0005-schedules.md says why the search is ours and python-dateutil only its judge.
"""

from rota.core.time.rrule.rule import Part, Rrule
from rota.core.time.rrule.search import next_tick
from rota.core.time.rrule.text import parse, timezone_of

__all__ = ["Part", "Rrule", "next_tick", "parse", "timezone_of"]
