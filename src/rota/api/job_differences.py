"""Computes what an edit changed, for the audit log."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from rota.api.schemas.jobs import JobView
from rota.core.manifest.differences import Difference
from rota.engine.submission.declared_jobs import DIGEST_LABEL

# Fields that every edit changes, and flat aliases of the schedule and the retries.
UNAUDITED_FIELDS: Final = frozenset(
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
# Fields whose values are not logged, only that they changed: an edit may remove a secret from a
# payload, and the log must not keep it.
HIDDEN_FIELDS: Final = frozenset({"payload"})
AUDITED_VALUE_BYTES_MAX: Final = 4_000


class AuditedChanges(NamedTuple):
    before: dict[str, Any]
    after: dict[str, Any]


def compare_jobs(old: JobView, new: JobView) -> AuditedChanges:
    """Compare two versions of a job: values before and after, by their API names."""
    pairs = {
        name: (read_field(old, name), read_field(new, name))
        for name in old.__struct_fields__
        if name not in UNAUDITED_FIELDS and read_field(old, name) != read_field(new, name)
    }
    return build_changes(pairs, new.version)


def build_changes(pairs: Mapping[str, tuple[Any, Any]], version: int) -> AuditedChanges:
    """Build the audit values of the fields that differ; `changed` names all of them."""
    logged = {
        name: pair for name, pair in pairs.items() if name not in HIDDEN_FIELDS and is_short(pair)
    }
    return AuditedChanges(
        before={name: was for name, (was, _) in logged.items()},
        after={
            "changed": list(pairs),
            "version": version,
            **{name: now for name, (_, now) in logged.items()},
        },
    )


def group_differences(differences: Iterable[Difference]) -> dict[str, tuple[Any, Any]]:
    """Group differences by field; an object contains only what differs inside it."""
    pairs: dict[str, tuple[Any, Any]] = {}
    for difference in differences:
        name, _, inner = difference.field.partition(".")
        if inner:
            before, after = pairs.setdefault(name, ({}, {}))
            before[inner], after[inner] = difference.before, difference.after
        else:
            pairs[name] = (difference.before, difference.after)
    return pairs


def read_field(job: JobView, name: str) -> Any:
    """Return a field without what Rota itself stores in it."""
    value = getattr(job, name)
    if name == "labels":
        return {key: text for key, text in value.items() if key != DIGEST_LABEL}
    return value


def is_short(pair: tuple[Any, Any]) -> bool:
    """Tell whether values are short enough for the log; a large graph is not."""
    return all(len(msgspec.json.encode(value)) <= AUDITED_VALUE_BYTES_MAX for value in pair)
