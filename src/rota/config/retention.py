"""How long runs, events, audit entries and deleted jobs are kept. Room: config."""

from datetime import timedelta
from typing import Annotated

from msgspec import Struct

from rota.config.declaring import DAY, span


class Retention(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long history is kept. Runs are dropped by the day, audit entries by the month."""

    runs: Annotated[
        timedelta,
        span(DAY, 3650 * DAY, "Age at which finished runs are dropped. Default: 30 days."),
    ] = 30 * DAY
    events: Annotated[
        timedelta,
        span(
            8 * DAY,
            3650 * DAY,
            "Age at which events are dropped. So long the same event is known again, and can be "
            "replayed.",
        ),
    ] = 30 * DAY
    audit: Annotated[
        timedelta,
        span(
            31 * DAY,
            3650 * DAY,
            "Age at which audit entries are dropped, a month at a time. Default: 400 days.",
        ),
    ] = 400 * DAY
    deleted_jobs: Annotated[
        timedelta,
        span(
            DAY,
            3650 * DAY,
            "Age at which deleted jobs are removed. A job stays as long as a run of it is kept. "
            "Default: 30 days.",
        ),
    ] = 30 * DAY
    partitions_ahead: Annotated[
        timedelta,
        span(
            2 * DAY,
            90 * DAY,
            "How far ahead the tables of coming days are made; as long may this duty be broken "
            "before anybody suffers.",
        ),
    ] = 7 * DAY
