"""One job of each form that a document can have: every rule, option, policy, limit and trigger."""

from typing import Any

from rota.runtime.clock import SystemClock

CALENDAR: dict[str, Any] = {
    "timezone": "Europe/Berlin",
    "dates": ["2030-12-25"],
    "ranges": [{"start": "2030-12-24T12:00:00", "end": "2030-12-26"}],
    "weekly": [{"start": "sat 00:00", "end": "sun 00:00"}],
    "yearly": ["12-31"],
    "recurring": [{"rrule": "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17", "length": "PT3H"}],
}
# A schedule without a tick in the next eight years is refused.
YEAR = SystemClock().now().year
FAR = f"{YEAR + 6}-01-01T00:00:00Z"
MISFIRE = {
    "on_outage": "all",
    "on_resume": "once",
    "on_edit": "skip",
    "start_deadline": "PT1H",
    "max_catchup": 7,
    "pace": "10/min",
    "late_after": "PT30S",
}
SCHEDULES: dict[str, dict[str, Any]] = {
    "cron": {"cron": "30 2 1 1 *", "timezone": "Europe/Berlin", "day_match": "all"},
    "several": {"cron": ["0 3 1 1 *", "H H 1 1 *"], "at": FAR},
    "rrule": {"rrule": "FREQ=YEARLY;BYHOUR=9"},
    "every": {"every": {"interval": "P300D", "anchor": FAR}},
    "fixed delay": {"fixed_delay": "P300D"},
    "at": {"at": FAR},
    "after": {"after": "P300D"},
    "on demand": {"on_demand": True},
    "options": {
        "cron": "0 4 1 1 *",
        "dst": {"gap": "skip", "overlap": "second"},
        "calendars": ["closed"],
        "on_blackout": "defer",
        "jitter": {"window": "PT5S", "stable": True},
        "window": {"start": f"{YEAR + 2}-01-01T00:00:00Z", "end": FAR, "max_runs": 5},
        "misfire": MISFIRE,
    },
    "event": {"event": {"type": "far.away", "where": "event.data.x > 1"}},
    "debounce": {"event": {"type": "far.away", "debounce": {"quiet": "PT1M", "most": "PT5M"}}},
    "batch": {"event": {"type": "far.away", "batch": {"size": 5, "within": "PT1M"}}},
    "all of": {"event": {"all_of": ["far.away", "far.off"], "within": "PT1M"}},
}
# Of these, the ones that are submissions and no jobs in this release.
ONCE = ("at", "after")
# Each of these runs at once, so that the other release's worker carries it out.
NOW: dict[str, dict[str, Any]] = {
    "plain": {},
    "policy": {
        "retries": {"max": 4, "kind": "list", "delays": ["PT1S", "PT2S"], "jitter": "none"},
        "timeout": "PT1M",
        "deadline": "PT1H",
        "grace": "PT3S",
        "target": "example.org:443",
    },
    "no limits": {"timeout": None, "retries": {"max": 0, "kind": "linear", "jitter": "equal"}},
    "once": {"guarantee": "at_most_once", "kind": "upgrade.slow"},
    "limits": {
        "limits": [
            {"key": "k:{args.n}", "max": 3},
            {"key": "r", "rate": {"count": 100, "per": "PT1S", "burst": 100}},
        ]
    },
    "order": {"overlap": "queue_all", "priority": "high", "labels": {"a": "b"}, "user_id": "ada"},
    "first": {"overlap": "queue_one", "keep_first": True, "when_queue_paused": "accumulate"},
    "unique": {
        "unique": {
            "key": "u:{args.n}",
            "while": "queued",
            "within": "PT1S",
            "on_conflict": "return",
        }
    },
}
GRAPH: dict[str, Any] = {
    "steps": [
        {"name": "list", "kind": "upgrade.quick", "payload": {"files": [1, 2, 3]}},
        {
            "name": "each",
            "kind": "upgrade.quick",
            "needs": ["list"],
            "map": {"over": "steps.list.result.files", "tolerate": "50%", "at_once": 2},
            "payload": {"file": {"$": "item"}},
            "retries": {"max": 2, "base": "PT1S"},
        },
        {
            "name": "inner",
            "needs": ["list"],
            "when": "steps.list.result.files[0] == 1",
            "graph": {"steps": [{"name": "deep", "kind": "upgrade.quick", "timeout": "PT1M"}]},
        },
        {
            "name": "end",
            "kind": "upgrade.quick",
            "needs": ["each", "inner"],
            "when": "always",
            "may_fail": True,
            "priority": "low",
        },
    ]
}


def far_jobs(tag: str) -> list[dict[str, Any]]:
    """Jobs that wait for a time or an event that does not come."""
    return [
        {"name": f"{tag} {name}", "kind": "upgrade.quick", "schedule": schedule}
        for name, schedule in SCHEDULES.items()
    ]


def due_jobs(tag: str) -> list[dict[str, Any]]:
    """Jobs that run at once."""
    made = [
        {"name": f"{tag} {name}", "kind": "upgrade.quick", "payload": {"n": tag}, **more}
        for name, more in NOW.items()
    ]
    return [*made, {"name": f"{tag} graph", "kind": "graph", "graph": GRAPH, "payload": {"n": 1}}]


def ticking_jobs(number: int) -> list[dict[str, Any]]:
    """Jobs of which every second is a run, whatever happens."""
    return [
        {
            "name": f"tick {n}",
            "kind": "upgrade.quick",
            "overlap": "allow" if n % 2 else "queue_all",
            "schedule": {"cron": "* * * * * *", "misfire": {"on_outage": "all"}},
        }
        for n in range(number)
    ]
