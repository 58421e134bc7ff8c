"""What the next fire time costs: Rota, CronSim and croniter side by side.

Run as `python -m tests.bench.time`, with `--json` for machines. Every figure is in microseconds
over random starts in one year. "cold" reads the expression and finds one tick; "warm" finds a tick
of an expression read before. The libraries' warm figure is their iterator's next answer, their
cold one a new object and its first answer. Ends with status 1 when Rota is over its budget.
"""

import gc
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from statistics import median
from time import perf_counter_ns

from croniter import croniter
from cronsim import CronSim

from rota.core.time import cron, zones
from rota.core.time.cron.syntax import _parse

EXPRESSIONS = [
    *("* * * * *", "*/5 * * * *", "0 * * * *", "0 9 * * *", "30 2 * * *", "0 */2 * * *"),
    *("0 9 * * MON-FRI", "*/15 9-17 * * MON-FRI", "0 0 1 * *", "0 0 L * *", "0 9 * * FRI#2"),
    *("0 0 1 1 *", "0 0 29 2 *"),
]
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]
SAMPLES = 400
WARM_BUDGET, COLD_BUDGET = 20.0, 100.0
YEAR = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    expression: str
    zone: str
    warm: float
    warm_p99: float
    cold: float
    cold_p99: float
    cronsim_warm: float
    cronsim_cold: float
    croniter_warm: float
    croniter_cold: float


def timed(call: Callable[[datetime], object], starts: list[datetime]) -> list[float]:
    """Microseconds of each call, in order of size; the collector rests, as with timeit."""
    spent = []
    gc.disable()
    for start in starts:
        began = perf_counter_ns()
        call(start)
        spent.append((perf_counter_ns() - began) / 1000)
    gc.enable()
    return sorted(spent)


def p99(spent: list[float]) -> float:
    return spent[len(spent) * 99 // 100]


def measured(text: str, zone_name: str, starts: list[datetime]) -> Row:
    zone = zones.get_zone(zone_name)
    expression = cron.parse_cron(text)
    local = [start.astimezone(zone) for start in starts]
    simulator, iterator = CronSim(text, local[0]), croniter(text, local[0], ret_type=datetime)

    def cold(start: datetime) -> object:
        _parse.cache_clear()
        return cron.find_next_tick(cron.parse_cron(text), zone, start)

    for start in starts:  # the spans of the years, which a node finds once
        cron.find_next_tick(expression, zone, start)
    warm_us = timed(lambda start: cron.find_next_tick(expression, zone, start), starts)
    cold_us = timed(cold, starts)
    few = local[: SAMPLES // 4]
    return Row(
        expression=text,
        zone=zone_name,
        warm=median(warm_us),
        warm_p99=p99(warm_us),
        cold=median(cold_us),
        cold_p99=p99(cold_us),
        cronsim_warm=median(timed(lambda _: next(simulator), few)),
        cronsim_cold=median(timed(lambda start: next(CronSim(text, start)), few)),
        croniter_warm=median(timed(lambda _: iterator.get_next(), few)),
        croniter_cold=median(
            timed(lambda start: croniter(text, start, ret_type=datetime).get_next(), few)
        ),
    )


def printed(rows: list[Row]) -> str:
    titles = ("warm", "p99", "cold", "p99", "warm", "cold", "warm", "cold")
    groups = (
        f"{'':44}{'    ---------- Rota, µs ---------':36}{'   -- CronSim --':18}   -- croniter --"
    )
    lines = [groups, f"{'expression':23}{'zone':21}" + "".join(f"{title:>8} " for title in titles)]
    for row in rows:
        _, _, *figures = asdict(row).values()
        lines.append(f"{row.expression:23}{row.zone:21}" + "".join(f"{f:8.1f} " for f in figures))
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    chance = Random("bench")
    starts = [YEAR + timedelta(seconds=chance.randrange(365 * 86_400)) for _ in range(SAMPLES)]
    rows = [measured(text, zone_name, starts) for text in EXPRESSIONS for zone_name in ZONES]
    warm, cold = max(row.warm for row in rows), max(row.cold for row in rows)
    within = warm <= WARM_BUDGET and cold <= COLD_BUDGET
    if "--json" in arguments:
        report = {"rows": [asdict(row) for row in rows], "warm": warm, "cold": cold, "ok": within}
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
    else:
        budget = f"warm {warm:.1f} of {WARM_BUDGET:.0f} µs, cold {cold:.1f} of {COLD_BUDGET:.0f} µs"
        sys.stdout.write(f"{printed(rows)}\n\nslowest medians: {budget}\n")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
