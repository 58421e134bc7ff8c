"""Declares how long runs, events, audit entries and deleted jobs are kept."""

from datetime import timedelta
from typing import Annotated

from msgspec import Struct

from rota.config.declarations import DAY, span


class RetentionSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long history is kept. Runs are deleted by the day, audit entries by the month."""

    runs: Annotated[
        timedelta,
        span(DAY, 3650 * DAY, "Age at which finished runs are deleted. Default: 30 days."),
    ] = 30 * DAY
    events: Annotated[
        timedelta,
        span(
            8 * DAY,
            3650 * DAY,
            "Age at which events are deleted. Until then, duplicates are detected and events can "
            "be replayed. Default: 30 days.",
        ),
    ] = 30 * DAY
    audit: Annotated[
        timedelta,
        span(
            31 * DAY,
            3650 * DAY,
            "Age at which audit entries are deleted, a month at a time. Default: 400 days.",
        ),
    ] = 400 * DAY
    deleted_jobs: Annotated[
        timedelta,
        span(
            DAY,
            3650 * DAY,
            "Age at which deleted jobs are removed. A job stays while any of its runs is kept. "
            "Default: 30 days.",
        ),
    ] = 30 * DAY
    partitions_ahead: Annotated[
        timedelta,
        span(
            2 * DAY,
            90 * DAY,
            "How far ahead the partitions of coming days are created. Runs keep working for that "
            "long if this maintenance fails. Default: 7 days.",
        ),
    ] = 7 * DAY
