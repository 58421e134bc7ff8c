"""Parses, searches and describes cron expressions.

docs/reference/cron.md defines the dialect; docs/adr/0004-cron.md explains why Rota has its own
implementation.
"""

from rota.core.time.cron.expression import Cron, DayMatch
from rota.core.time.cron.syntax import ALIASES, parse
from rota.core.time.cron.walk import fires_within, next_tick, ticks

__all__ = ["ALIASES", "Cron", "DayMatch", "fires_within", "next_tick", "parse", "ticks"]
