"""What an edit made different, for the audit log. Room: api."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from rota.api.shapes.jobs import JobView
from rota.core.manifest.differences import Difference
from rota.flow.submit.declaring import DIGEST

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
    """Values before and after, by the names of the API."""
    pairs = {
        name: (value_of(old, name), value_of(new, name))
        for name in old.__struct_fields__
        if name not in ASIDE and value_of(old, name) != value_of(new, name)
    }
    return changes_of(pairs, new.version)


def changes_of(pairs: Mapping[str, tuple[Any, Any]], version: int) -> Changes:
    """The same of fields that differ; `changed` names all of them."""
    told = {name: pair for name, pair in pairs.items() if name not in UNTOLD and short(pair)}
    return Changes(
        before={name: was for name, (was, _) in told.items()},
        after={
            "changed": list(pairs),
            "version": version,
            **{name: now for name, (_, now) in told.items()},
        },
    )


def pairs_of(differences: Iterable[Difference]) -> dict[str, tuple[Any, Any]]:
    """Differences by path as values of whole fields; an object has only what differs inside."""
    pairs: dict[str, tuple[Any, Any]] = {}
    for each in differences:
        name, _, inner = each.field.partition(".")
        if inner:
            before, after = pairs.setdefault(name, ({}, {}))
            before[inner], after[inner] = each.before, each.after
        else:
            pairs[name] = (each.before, each.after)
    return pairs


def value_of(job: JobView, name: str) -> Any:
    """A field without what Rota itself notes there."""
    value = getattr(job, name)
    if name == "labels":
        return {key: text for key, text in value.items() if key != DIGEST}
    return value


def short(pair: tuple[Any, Any]) -> bool:
    """A graph of a thousand steps is not for a log."""
    return all(len(msgspec.json.encode(value)) <= LONGEST for value in pair)
