"""`rota dead`: dead letters, which need somebody to look. Room: cli."""

from typing import Annotated, Any

from cyclopts import App

from rota.cli import naming, times
from rota.cli.asking import confirm
from rota.cli.bulk import NOBODY, Many, do_many
from rota.cli.commands.runs import ANY, Which, run_columns
from rota.cli.listing import SOME, Most, gather, said, tell_more
from rota.cli.options import TALK, YES, Talk
from rota.cli.tables import Column

app = App(name="dead", help="Dead letters: look at, let go again, drop.")


@app.command(name="list")
def list_dead(*, which: Which = ANY, most: Most = SOME, talk: Talk = TALK) -> int:
    """List runs that need somebody to look: dead, lost or quarantined."""
    with talk.open() as client:
        found = gather(client.list_dead_letters, most=most, **which.filters(client))
    talk.rows(found.rows, run_columns(times.now()), ids="run_id", empty="there are no dead letters")
    tell_more(found, talk)
    return 0


@app.command
def groups(*, since: str | None = None, limit: int = 50, talk: Talk = TALK) -> int:
    """Count dead letters that died alike together, the last seen first.

    Parameters
    ----------
    since
        Died since: a time, or how long ago (default: 30d).
    limit
        How many groups at most, up to 200.
    """
    with talk.open() as client:
        when = said(since=times.instant(since, field="--since"))
        found = client.list_dead_groups(limit=limit, **when).items
    now = times.now()
    columns: list[Column[Any]] = [
        Column("COUNT", lambda each: each.count, right=True),
        Column("JOB", lambda each: each.job_name or each.job_id, flexible=True),
        Column("ERROR", lambda each: each.error_type, flexible=True),
        Column("MESSAGE", lambda each: each.message, flexible=True),
        Column("FIRST", lambda each: times.ago(each.first_seen, now)),
        Column("LAST", lambda each: times.ago(each.last_seen, now)),
        Column("ONE OF THEM", lambda each: each.sample_run_id),
    ]
    talk.rows(found, columns, ids="sample_run_id", empty="there are no dead letters")
    return 0


@app.command
def replay(
    *runs: str, many: Many = NOBODY, yes: Annotated[bool, YES] = False, talk: Talk = TALK
) -> int:
    """Let dead letters go again: these, or all that fit the options; counts first, and asks.

    Parameters
    ----------
    runs
        Their ids, or the beginnings of them.
    yes
        Do not ask.
    """
    with talk.open() as client:
        if not runs:
            which = many.filters(client)
            return do_many(client.replay_dead_letters, which, "Replay", yes=yes, talk=talk)
        many.refuse_beside(runs)
        for run in runs:
            done = client.retry_run(naming.run_id(client, run))
            talk.done(done, f"{done.run_id} is {done.status}", id_=done.run_id)
    return 0


@app.command
def drop(
    *runs: str, many: Many = NOBODY, yes: Annotated[bool, YES] = False, talk: Talk = TALK
) -> int:
    """Take dead letters off the list: these, or all that fit the options; asks first.

    The runs stay in history.

    Parameters
    ----------
    runs
        Their ids, or the beginnings of them.
    yes
        Do not ask.
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
            talk.done({"run_id": id_}, f"{id_} is off the list", id_=id_)
    return 0
