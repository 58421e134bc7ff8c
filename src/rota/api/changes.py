"""What an edit made different, for the audit log. Room: api."""

from typing import Any, Final, NamedTuple

import msgspec

from rota.api.shapes.jobs import JobView

# What an edit does by itself, and what is another way to say the schedule or the retries.
ASIDE: Final = frozenset(
    {
        "version",
        "updated_at",
        "next_run_at",
        "status",
        "schedule_type",
        "cron_expression",
        "schedule_time",
        "timezone",
        "max_retries",
    }
)
# Only that they changed: somebody may have taken out what should never have been in there, and the
# log keeps what it has.
UNTOLD: Final = frozenset({"payload"})
LONGEST: Final = 4_000


class Changes(NamedTuple):
    before: dict[str, Any]
    after: dict[str, Any]


def changes(old: JobView, new: JobView) -> Changes:
    """Values before and after, by the names of the API; `changed` names all fields."""
    pairs = {
        name: (getattr(old, name), getattr(new, name))
        for name in old.__struct_fields__
        if name not in ASIDE and getattr(old, name) != getattr(new, name)
    }
    told = {name: pair for name, pair in pairs.items() if name not in UNTOLD and short(pair)}
    return Changes(
        before={name: was for name, (was, _) in told.items()},
        after={
            "changed": list(pairs),
            "version": new.version,
            **{name: now for name, (_, now) in told.items()},
        },
    )


def short(pair: tuple[Any, Any]) -> bool:
    """A graph of a thousand steps is not for a log."""
    return all(len(msgspec.json.encode(value)) <= LONGEST for value in pair)
