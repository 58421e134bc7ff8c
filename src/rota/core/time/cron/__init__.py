"""Cron expressions: read, searched, put in words.

Room: core/time/cron. docs/reference/cron.md is the dialect; docs/adr/0004-cron.md says why it is
ours and not a library's.
"""

from rota.core.time.cron.expression import Cron, DayMatch
from rota.core.time.cron.syntax import ALIASES, parse
from rota.core.time.cron.walk import fires_within, next_tick, ticks

__all__ = ["ALIASES", "Cron", "DayMatch", "fires_within", "next_tick", "parse", "ticks"]
