"""Changes many runs in one command: counts them, asks for confirmation, then acts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from cyclopts import Group, Parameter

from rota.cli import name_resolution, times
from rota.cli.api_options import ApiOptions
from rota.cli.errors import UsageError
from rota.cli.pagination import drop_empty
from rota.cli.prompts import confirm

BULK_GROUP: Final = Group("Many at once", sort_key=3)


@Parameter(name="*", group=BULK_GROUP)
@dataclass(frozen=True, slots=True, kw_only=True)
class RunSelection:
    """Filters that select runs.

    Parameters
    ----------
    job
        Filter by job name or id. Default: any.
    kind
        Filter by kind. Default: any.
    queue
        Filter by queue. Default: any.
    fingerprint
        Filter by error fingerprint. With --kind it selects one group of `rota dead groups`.
        Default: any.
    since
        Runs that ended, or if unfinished were created, at or after this time: a timestamp, or how
        long ago, such as 2h. Default: any.
    until
        Runs that ended, or if unfinished were created, before this time: a timestamp, or how long
        ago. Default: any.
    """

    job: str | None = None
    kind: str | None = None
    queue: str | None = None
    error: Annotated[str | None, Parameter(help="Filter by error type. Default: any.")] = None
    fingerprint: str | None = None
    since: str | None = None
    until: str | None = None

    def build_filters(self, client: Any) -> dict[str, Any]:
        filters = drop_empty(
            job_id=None if self.job is None else name_resolution.resolve_job_id(client, self.job),
            kind=self.kind,
            queue=self.queue,
            error=self.error,
            fingerprint=self.fingerprint,
            since=times.parse_time(self.since, field="--since"),
            until=times.parse_time(self.until, field="--until"),
        )
        if not filters:
            message = (
                "no runs selected: give run ids, or at least one of --job, --kind, --queue,"
                " --error, --fingerprint, --since, --until"
            )
            raise UsageError(message)
        return filters

    def reject_run_ids(self, runs: Sequence[str]) -> None:
        if self != NO_SELECTION:
            raise UsageError(f"give run ids or filter options, not both: {', '.join(runs)}")


NO_SELECTION: Final = RunSelection()
_PAST_TENSE: Final = {
    "Cancel": "Cancelled",
    "Drop": "Dropped",
    "Edit and requeue": "Edited and requeued",
    "Requeue": "Requeued",
}


def apply_in_bulk(
    operation: Callable[..., Any],
    filters: dict[str, Any],
    verb: str,
    *,
    yes: bool,
    api_options: ApiOptions,
) -> int:
    """Count, ask, then act in as many calls as needed: each call changes a bounded number."""
    counted = operation(filter=filters, dry_run=True)
    if not counted.matched or counted.token is None:
        api_options.print_result(counted, "No matching runs", id_=0)
        return 0
    question = f"{verb} {counted.matched} run{'' if counted.matched == 1 else 's'}?"
    if not confirm(question, yes=yes):
        return 1
    number, token = 0, counted.token
    while token is not None:
        done = operation(filter=filters, token=token)
        number += done.done
        token = done.token if done.done else None
    summary = {"matched": counted.matched, "done": number, "token": None}
    api_options.print_result(
        summary, f"{_PAST_TENSE[verb]} {number} run{'' if number == 1 else 's'}", id_=number
    )
    return 0
