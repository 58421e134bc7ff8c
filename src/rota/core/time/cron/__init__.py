"""Parses, searches and describes cron expressions.

docs/reference/cron.md defines the dialect; docs/adr/0004-cron.md explains why Rota has its own
implementation.
"""

from rota.core.time.cron.expression import Cron, DayMatch
from rota.core.time.cron.hashing import uses_hash
from rota.core.time.cron.search import find_next_tick, fires_within, iterate_ticks
from rota.core.time.cron.syntax import CRON_ALIASES, parse_cron

__all__ = [
    "CRON_ALIASES",
    "Cron",
    "DayMatch",
    "find_next_tick",
    "fires_within",
    "iterate_ticks",
    "parse_cron",
    "uses_hash",
]
