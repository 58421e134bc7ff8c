"""Schedules and calendars that are legal, and that a search without bounds would take seconds or
minutes for. Each was found in a test of somebody who meant harm.
"""

from typing import Any, Final

Plain = dict[str, Any]

HOURS: Final = ",".join(map(str, range(24)))
# 80,063 times a day.
DENSE: Final = "0-58 0-58 0-22 * * *"
BERLIN: Final = "Europe/Berlin"


def full_calendar(windows_a_day: int) -> Plain:
    """Windows of a second, so many a day and at equal distances, as 24 times of each rule."""
    rules = windows_a_day // 24
    return {
        "name": f"full-{windows_a_day}",
        "timezone": BERLIN,
        "recurring": [
            {
                "rrule": f"FREQ=DAILY;BYHOUR={HOURS};BYMINUTE={place * (60 // rules)}",
                "length": "PT1S",
            }
            for place in range(rules)
        ],
    }


def in_windows(windows_a_day: int) -> Plain:
    """A schedule all of whose ticks until 2034 lie in the windows of such a calendar."""
    rules = windows_a_day // 24
    minutes = ",".join(str(place * (60 // rules)) for place in range(rules))
    return {
        "cron": f"{minutes} * * * *",
        "at": ["2034-01-01T00:00:30Z"],
        "timezone": BERLIN,
        "calendars": [f"full-{windows_a_day}"],
    }


CALENDARS: Final[dict[str, Plain]] = {
    **{f"full-{number}": full_calendar(number) for number in (24, 72, 144, 360)},
    "sixteen": {
        "name": "sixteen",
        "recurring": [
            {"rrule": f"FREQ=DAILY;BYHOUR={HOURS};BYMINUTE={minute}", "length": "PT40M"}
            for minute in range(16)
        ],
    },
    "hourly": {
        "name": "hourly",
        "recurring": [{"rrule": f"FREQ=DAILY;BYHOUR={HOURS}", "length": "PT59M"}],
    },
    "positions": {
        "name": "positions",
        "recurring": [
            {
                "rrule": "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;"
                f"BYSETPOS={place + 1},{-place - 1};BYHOUR={HOURS}",
                "length": "PT59M",
            }
            for place in range(16)
        ],
    },
    # Two that touch each other for ever, and leave no time free.
    "even": {
        "name": "even",
        "recurring": [
            {
                "rrule": f"FREQ=DAILY;BYHOUR={','.join(map(str, range(0, 24, 2)))}",
                "length": "PT1H",
            }
        ],
    },
    "odd": {
        "name": "odd",
        "recurring": [
            {
                "rrule": f"FREQ=DAILY;BYHOUR={','.join(map(str, range(1, 24, 2)))}",
                "length": "PT1H",
            }
        ],
    },
}

SPARSE_RRULES: Final = [f"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYHOUR={hour}" for hour in range(4)]
DENSE_RRULE: Final = (
    f"FREQ=DAILY;BYHOUR={HOURS};BYMINUTE={','.join(map(str, range(59)))};BYSECOND=0"
)

SCHEDULES: Final[dict[str, Plain]] = {
    "dense cron": {"cron": DENSE, "timezone": BERLIN},
    "thirty dense crons": {"cron": [DENSE] * 30, "timezone": BERLIN},
    "dense and every second": {"cron": [DENSE, "30 2 * * *"], "every": "1s", "timezone": BERLIN},
    "dense rrule": {"rrule": DENSE_RRULE, "timezone": BERLIN},
    "sparse rrules": {"rrule": SPARSE_RRULES},
    "every second": {"rrule": "FREQ=SECONDLY", "timezone": BERLIN},
    **{f"{number} windows a day": in_windows(number) for number in (24, 72, 144, 360)},
    "once a day in 360 windows": {
        "cron": "0 0 * * *",
        "timezone": BERLIN,
        "calendars": ["full-360"],
    },
    "sixteen rules": {"cron": "30 * * * *", "calendars": ["sixteen"]},
    "one window an hour": {"cron": "30 * * * *", "calendars": ["hourly"]},
    "positions of a year": {"cron": "30 * * * *", "calendars": ["positions"]},
    "no time is free": {"cron": "* * * * * *", "calendars": ["even", "odd"]},
    "no time is free, deferred": {
        "cron": DENSE,
        "calendars": ["even", "odd"],
        "on_blackout": "defer",
    },
    "sparse in windows": {"rrule": SPARSE_RRULES, "timezone": BERLIN, "calendars": ["full-360"]},
    "thirty-two times": {
        "at": [f"2034-01-{day:02}T{hour:02}:00:00Z" for day in range(1, 17) for hour in (0, 1)],
        "timezone": BERLIN,
        "calendars": ["full-24"],
    },
}
