"""`rota dead`: lists, groups, requeues, edits and drops dead letters."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

from cyclopts import App

from rota.cli import naming, times
from rota.cli.asking import confirm
from rota.cli.bulk import NOBODY, Many, do_many
from rota.cli.commands.observing import sparkline
from rota.cli.commands.runs import ANY, Which, run_columns
from rota.cli.errors import Misused
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import TALK, YES, Talk, write
from rota.cli.reading import json_of
from rota.cli.tables import Column
from rota.cli.tracebacks import traceback_lines

app = App(name="dead", help="Dead letters: group, requeue, edit, drop.")


@app.command(name="list")
def list_dead(
    *,
    which: Which = ANY,
    fingerprint: str | None = None,
    most: Most = SOME,
    talk: Talk = TALK,
) -> int:
    """List dead letters: dead, lost and quarantined runs.

    Parameters
    ----------
    fingerprint
        Filter by error fingerprint, as shown by `rota dead groups`. Default: any.
    """
    with talk.open() as client:
        filters = which.filters(client) | {"fingerprint": fingerprint}
        found = gather(client.list_dead_letters, most=most, **filters)
    talk.rows(found.rows, run_columns(times.now()), ids="run_id", empty="No dead letters")
    tell_more(found, talk)
    return 0


@app.command
def groups(
    *,
    kind: str | None = None,
    job: str | None = None,
    since: str | None = None,
    limit: int = 50,
    talk: Talk = TALK,
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
    with talk.open() as client:
        which = said(
            kind=kind,
            job_id=None if job is None else naming.job_id(client, job),
            since=times.instant(since, field="--since"),
        )
        found = client.list_dead_groups(limit=limit, **which)
    now = times.now()
    columns: list[Column[Any]] = [
        Column("COUNT", lambda each: each.count, right=True),
        Column("TASK", lambda each: each.kind, flexible=True),
        Column("ERROR", lambda each: each.error_type, flexible=True),
        Column("MESSAGE", lambda each: each.message, flexible=True),
        Column("FINGERPRINT", lambda each: each.fingerprint),
        Column("LAST 24 H", lambda each: sparkline(each.counts_per_hour)),
        Column("FIRST", lambda each: times.ago(each.first_seen, now)),
        Column("LAST", lambda each: times.ago(each.last_seen, now)),
    ]
    talk.rows(found.items, columns, ids="fingerprint", empty="No dead letters")
    if found.is_partial and talk.is_plain:
        print("Only the newest dead letters are grouped; `rota dead show` counts all of a group.")
    return 0


@app.command
def show(kind: str, fingerprint: str, *, since: str | None = None, talk: Talk = TALK) -> int:
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
    with talk.open() as client:
        when = said(since=times.instant(since, field="--since"))
        found = client.get_dead_group(kind, fingerprint, **when)
    talk.thing(found, group_facts(found), ids="fingerprint")
    if talk.is_plain:
        write(traceback_lines(found.sample.traceback, found.sample.run_id))
    return 0


def group_facts(group: Any) -> Iterator[tuple[str, object]]:
    now = times.now()
    yield "task", group.kind
    yield "error", group.error_type
    yield "message", group.message
    yield "frame", group.frame
    yield "fingerprint", group.fingerprint
    yield "count", f"{group.count}{' or more' if group.is_partial else ''}"
    yield "first seen", times.at(group.first_seen, now)
    yield "last seen", times.at(group.last_seen, now)
    yield "last 24 h", sparkline(group.counts_per_hour)
    yield "versions", ", ".join(map(str, group.versions)) or None
    jobs = [f"{job.job_name or 'one-time runs'} ({job.count})" for job in group.jobs]
    more = group.job_count - len(group.jobs)
    yield "jobs", ", ".join([*jobs, *([f"{more} more"] if more else [])])
    yield "newest run", group.sample.run_id
    yield "payload", json.dumps(group.sample.payload)


@app.command
def replay(
    *runs: str, many: Many = NOBODY, yes: Annotated[bool, YES] = False, talk: Talk = TALK
) -> int:
    """Requeue dead letters unchanged, by id or filter. A filter counts them and asks first.

    Parameters
    ----------
    runs
        Run ids or unique prefixes.
    yes
        Skip the confirmation.
    """
    with talk.open() as client:
        if not runs:
            which = many.filters(client)
            return do_many(client.replay_dead_letters, which, "Requeue", yes=yes, talk=talk)
        many.refuse_beside(runs)
        for run in runs:
            done = client.retry_run(naming.run_id(client, run))
            talk.done(done, f"Requeued {done.run_id} ({done.status})", id_=done.run_id)
    return 0


@app.command
def edit(
    patch: str, *, many: Many = NOBODY, yes: Annotated[bool, YES] = False, talk: Talk = TALK
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
    changes = json_of(patch, field="patch")
    if not isinstance(changes, dict) or not changes:
        example = '{"draft": true}'
        wanted = f"expected a JSON object with fields, such as {example}"
        raise Misused(f"patch: {patch!r} is invalid: {wanted}")
    with talk.open() as client:
        which = many.filters(client)
        requeue = partial(client.edit_dead_letters, patch=changes)
        return do_many(requeue, which, "Edit and requeue", yes=yes, talk=talk)


@app.command
def drop(
    *runs: str, many: Many = NOBODY, yes: Annotated[bool, YES] = False, talk: Talk = TALK
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
    with talk.open() as client:
        if not runs:
            which = many.filters(client)
            return do_many(client.drop_dead_letters, which, "Drop", yes=yes, talk=talk)
        many.refuse_beside(runs)
        ids = [naming.run_id(client, run) for run in runs]
        if not confirm(f"Drop {len(ids)} dead letter{'' if len(ids) == 1 else 's'}?", yes=yes):
            return 1
        for id_ in ids:
            client.drop_dead_letter(id_)
            talk.done({"run_id": id_}, f"Dropped {id_}", id_=id_)
    return 0
