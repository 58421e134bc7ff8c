"""`rota dead`: lists, groups, requeues, edits and drops dead letters."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

from cyclopts import App

from rota.cli import name_resolution, times
from rota.cli.api_options import DEFAULT_API_OPTIONS, YES_FLAG, ApiOptions, print_lines
from rota.cli.argument_values import read_json
from rota.cli.bulk_actions import NO_SELECTION, RunSelection, apply_in_bulk
from rota.cli.commands.inspection import draw_sparkline
from rota.cli.commands.runs import ANY_RUN, RunFilters, build_run_columns
from rota.cli.errors import UsageError
from rota.cli.pagination import DEFAULT_LIMIT, ListLimit, drop_empty, list_rows, print_more_hint
from rota.cli.prompts import confirm
from rota.cli.tables import TableColumn
from rota.cli.tracebacks import render_traceback

app = App(name="dead", help="Dead letters: group, requeue, edit, drop.")


@app.command(name="list")
def list_dead(
    *,
    selection: RunFilters = ANY_RUN,
    fingerprint: str | None = None,
    row_limit: ListLimit = DEFAULT_LIMIT,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """List dead letters: dead, lost and quarantined runs.

    Parameters
    ----------
    fingerprint
        Filter by error fingerprint, as shown by `rota dead groups`. Default: any.
    """
    with api_options.open_client() as client:
        filters = selection.build_filters(client) | {"fingerprint": fingerprint}
        found = list_rows(client.list_dead_letters, row_limit=row_limit, **filters)
    api_options.print_rows(
        found.rows, build_run_columns(times.now()), ids="run_id", empty="No dead letters"
    )
    print_more_hint(found, api_options)
    return 0


@app.command
def groups(
    *,
    kind: str | None = None,
    job: str | None = None,
    since: str | None = None,
    limit: int = 50,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Group dead letters by task and error, last seen first.

    Parameters
    ----------
    kind
        Filter by task. Default: any.
    job
        Filter by job name or id. Default: any.
    since
        Only runs that ended at or after this time: a timestamp, or how long ago. Default: 30d.
    limit
        Maximum number of groups, 1 to 200. Default: 50.
    """
    with api_options.open_client() as client:
        which = drop_empty(
            kind=kind,
            job_id=None if job is None else name_resolution.resolve_job_id(client, job),
            since=times.parse_time(since, field="--since"),
        )
        found = client.list_dead_groups(limit=limit, **which)
    now = times.now()
    columns: list[TableColumn[Any]] = [
        TableColumn("COUNT", lambda each: each.count, right=True),
        TableColumn("TASK", lambda each: each.kind, flexible=True),
        TableColumn("ERROR", lambda each: each.error_type, flexible=True),
        TableColumn("MESSAGE", lambda each: each.message, flexible=True),
        TableColumn("FINGERPRINT", lambda each: each.fingerprint),
        TableColumn("LAST 24 H", lambda each: draw_sparkline(each.counts_per_hour)),
        TableColumn("FIRST", lambda each: times.format_relative(each.first_seen, now)),
        TableColumn("LAST", lambda each: times.format_relative(each.last_seen, now)),
    ]
    api_options.print_rows(found.items, columns, ids="fingerprint", empty="No dead letters")
    if found.is_partial and api_options.is_plain:
        print("Only the newest dead letters are grouped; `rota dead show` counts all of a group.")
    return 0


@app.command
def show(
    kind: str,
    fingerprint: str,
    *,
    since: str | None = None,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Show one group of dead letters, with its newest run.

    Parameters
    ----------
    kind
        Task of the group.
    fingerprint
        Fingerprint, as shown by `rota dead groups`.
    since
        Only runs that ended at or after this time: a timestamp, or how long ago. Default: 30d.
    """
    with api_options.open_client() as client:
        when = drop_empty(since=times.parse_time(since, field="--since"))
        found = client.get_dead_group(kind, fingerprint, **when)
    api_options.print_record(found, describe_group(found), ids="fingerprint")
    if api_options.is_plain:
        print_lines(render_traceback(found.sample.traceback, found.sample.run_id))
    return 0


def describe_group(group: Any) -> Iterator[tuple[str, object]]:
    now = times.now()
    yield "task", group.kind
    yield "error", group.error_type
    yield "message", group.message
    yield "frame", group.frame
    yield "fingerprint", group.fingerprint
    yield "count", f"{group.count}{' or more' if group.is_partial else ''}"
    yield "first seen", times.format_time(group.first_seen, now)
    yield "last seen", times.format_time(group.last_seen, now)
    yield "last 24 h", draw_sparkline(group.counts_per_hour)
    yield "versions", ", ".join(map(str, group.versions)) or None
    jobs = [f"{job.job_name or 'one-time runs'} ({job.count})" for job in group.jobs]
    more = group.job_count - len(group.jobs)
    yield "jobs", ", ".join([*jobs, *([f"{more} more"] if more else [])])
    yield "newest run", group.sample.run_id
    yield "payload", json.dumps(group.sample.payload)


@app.command(alias="replay")
def requeue(
    *runs: str,
    selection: RunSelection = NO_SELECTION,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Requeue dead letters unchanged, by id or filter. A filter counts them and asks first.

    Parameters
    ----------
    runs
        Run ids or unique prefixes.
    yes
        Skip the confirmation.
    """
    with api_options.open_client() as client:
        if not runs:
            which = selection.build_filters(client)
            return apply_in_bulk(
                client.replay_dead_letters, which, "Requeue", yes=yes, api_options=api_options
            )
        selection.reject_run_ids(runs)
        for run in runs:
            done = client.retry_run(name_resolution.resolve_run_id(client, run))
            api_options.print_result(
                done, f"Requeued {done.run_id} ({done.status})", id_=done.run_id
            )
    return 0


@app.command
def edit(
    patch: str,
    *,
    selection: RunSelection = NO_SELECTION,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Requeue dead letters with an edited payload. Counts them and asks first.

    Each becomes a new run. The dead ones leave the list and stay in history.

    Parameters
    ----------
    patch
        JSON merge patch for the payload of each run, such as '{"region": "eu", "draft": null}':
        its fields replace those of the payload; null removes a field.
    yes
        Skip the confirmation.
    """
    changes = read_json(patch, field="patch")
    if not isinstance(changes, dict) or not changes:
        example = '{"draft": true}'
        wanted = f"expected a JSON object with fields, such as {example}"
        raise UsageError(f"patch: {patch!r} is invalid: {wanted}")
    with api_options.open_client() as client:
        which = selection.build_filters(client)
        requeue = partial(client.edit_dead_letters, patch=changes)
        return apply_in_bulk(requeue, which, "Edit and requeue", yes=yes, api_options=api_options)


@app.command
def drop(
    *runs: str,
    selection: RunSelection = NO_SELECTION,
    yes: Annotated[bool, YES_FLAG] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Drop dead letters, by id or filter. Counts them and asks first.

    They leave the list and stay in history.

    Parameters
    ----------
    runs
        Run ids or unique prefixes.
    yes
        Skip the confirmation.
    """
    with api_options.open_client() as client:
        if not runs:
            which = selection.build_filters(client)
            return apply_in_bulk(
                client.drop_dead_letters, which, "Drop", yes=yes, api_options=api_options
            )
        selection.reject_run_ids(runs)
        ids = [name_resolution.resolve_run_id(client, run) for run in runs]
        if not confirm(f"Drop {len(ids)} dead letter{'' if len(ids) == 1 else 's'}?", yes=yes):
            return 1
        for id_ in ids:
            client.drop_dead_letter(id_)
            api_options.print_result({"run_id": id_}, f"Dropped {id_}", id_=id_)
    return 0
