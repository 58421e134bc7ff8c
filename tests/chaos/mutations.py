"""Ways to break the engine on purpose, each a small textual change to a copy of its source.

A checker that finds nothing proves nothing until it has found something: every mutation drops one
rule of the protocol, and the storm must notice (test_power.py). `caught_by` names the invariants
of which at least one must be violated; the storm has no knowledge of which mutation it runs.
"""

from dataclasses import dataclass
from pathlib import Path

SQL = "rota/store/sql"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    path: str
    old: str
    new: str

    def apply(self, source: Path) -> None:
        """Change the copy; a text that is not there any more must be looked up again."""
        file = source / self.path
        text = file.read_text()
        found = text.count(self.old)
        assert found >= 1, f"{self.path} does not contain {self.old!r}"
        file.write_text(text.replace(self.old, self.new))


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    name: str
    edits: tuple[Edit, ...]
    caught_by: frozenset[str]
    # Whether it takes a commit that comes very late.
    needs_late: bool = False


def breaking(
    name: str, *edits: tuple[str, str, str], caught_by: set[str], needs_late: bool = False
) -> Mutation:
    return Mutation(
        name=name,
        edits=tuple(Edit(path=path, old=old, new=new) for path, old, new in edits),
        caught_by=frozenset(caught_by),
        needs_late=needs_late,
    )


# A reaper that reads first and takes by id afterwards, as if it had two statements.
STALE_READ = """
    gone = await conn.fetch(
        "select r.id from rota.live_runs as r left join rota.sessions as s on r.session_id = s.id"
        " where r.state in ('running', 'cancelling')"
        " and (s.id is null or s.expires_at = '-infinity')"
    )
    ids = "{" + ",".join(str(row[0]) for row in gone) + "}"
    import asyncio

    await asyncio.sleep(0.03)
    await conn.execute("select set_config('storm.ids', $1, false)", ids)
    return await RECLAIM.all("""

# A fire that moves the cursor in one transaction and writes the run in another.
SECOND_TRANSACTION = """        **values,
    )
    import asyncio

    await asyncio.sleep(0.03)
    wanted = {each.run_id for each in decided if not each.is_skipped}
    for firing in firings:
        if firing.run_id in wanted:
            await conn.execute(
                "insert into rota.live_runs (id, job_id, scheduled_at, due_at, ready_at,"
                " created_at, tenant_id, queue_id, kind_id, policy_id, job_version, state,"
                " trigger, priority, guarantee)"
                " select $1, c.job_id, $2, $2, rota.now(), rota.now(), c.tenant_id, c.queue_id,"
                " c.kind_id, c.policy_id, c.version, 'queued', 'tick', c.priority, c.guarantee"
                " from rota.cursors as c where c.job_id = $3 on conflict do nothing",
                firing.run_id, firing.due.tick_at, firing.due.job_id,
            )
    return decided
"""

# A cancel that reads the state, decides, and writes by what it has read.
READ_THEN_WRITE = """
    rows = await conn.fetch(
        "select r.id, r.state::text from rota.live_runs as r where r.id = any($1::uuid[])", ids
    )
    import asyncio

    await asyncio.sleep(0.005)
    waiting = [row[0] for row in rows if row[1] in ("blocked", "queued", "retrying")]
    running = [row[0] for row in rows if row[1] == "running"]
    await conn.execute(
        "update rota.live_runs set state = 'cancelling'"
        " where id = any($1::uuid[]) and state = 'running'", running
    )
    asked = [RunMove(run_id, RunState.CANCELLING) for run_id in running]
    return asked + await CANCEL.all(conn, ids=waiting, reason=reason)
"""

# An ending that is committed before its mark is written.
SECOND_MARK = """\
    import asyncio

    await asyncio.sleep(0.03)
    ids = [] if row is None else row.ids or []
    rows = await conn.fetch(
        "insert into rota.step_marks (tenant_id, graph_run_id, step, state, run_id)"
        " select r.tenant_id, r.graph_run_id, r.step, r.state, r.id from rota.runs as r"
        " where r.id = any($1::uuid[]) and r.graph_run_id is not null"
        " returning graph_run_id", ids,
    )
    if row is not None:
        row = row._replace(graph_run_ids=[each[0] for each in rows])
    if row is None or row.ids is None or row.states is None:
        return FinishedRuns"""

# A board that is read, and decided upon a while later.
UNLOCKED = """\
        locked = await graphs.lock_graph_runs(conn, ids)
        import asyncio

        await asyncio.sleep(0.03)
"""

MUTATIONS = (
    breaking(
        "a join is decided without holding the graph run",
        (f"{SQL}/graphs/lock.sql", "for update of g skip locked", ""),
        (
            "rota/engine/graphs/advancer.py",
            "        locked = await graphs.lock_graph_runs(conn, ids)\n",
            UNLOCKED,
        ),
        caught_by={"I6", "I13"},
    ),
    breaking(
        "the ending of a step and its mark are two transactions",
        (f"{SQL}/live_runs/finish.sql", "where t.graph_run_id is not null", "where false"),
        (
            "rota/store/live_runs.py",
            (
                "    if row is None or row.ids is None or row.states is None:\n"
                "        return FinishedRuns"
            ),
            SECOND_MARK,
        ),
        caught_by={"I6", "I13"},
    ),
    breaking(
        "a result is accepted without its fence",
        (
            f"{SQL}/live_runs/finish.sql",
            "and r.attempt = e.attempt\n        and r.session_id = :session_id::uuid",
            "and :session_id::uuid is not null\n        and r.session_id is not null",
        ),
        caught_by={"I9"},
    ),
    breaking(
        "a retry is accepted without its fence",
        (
            f"{SQL}/live_runs/put_back.sql",
            "on b.id = r.id and b.attempt = r.attempt",
            "on b.id = r.id",
        ),
        (
            f"{SQL}/live_runs/put_back.sql",
            "r.session_id = :session_id::uuid\n",
            "r.session_id is not null and :session_id::uuid is not null\n",
        ),
        caught_by={"I9", "I10"},
    ),
    breaking(
        "a beat revives an expired session",
        (f"{SQL}/sessions/heartbeat.sql", "and s.expires_at > '-infinity'", ""),
        caught_by={"I10"},
    ),
    breaking(
        "a fire does not ask for the epoch",
        (f"{SQL}/cursors/fire.sql", "mine.id = s.id and mine.epoch = s.epoch", "mine.id = s.id"),
        (
            f"{SQL}/cursors/fire.sql",
            "where s.owner = :owner::uuid",
            "where :owner::uuid is not null",
        ),
        caught_by={"I9"},
    ),
    breaking(
        "a fire does not ask where the cursor stands",
        (f"{SQL}/cursors/fire.sql", "and c.tick_at = t.tick_at", ""),
        caught_by={"I2", "I3", "I7"},
    ),
    breaking(
        "the tick and its run are two transactions",
        (f"{SQL}/cursors/fire.sql", "where d.refusal is null", "where false"),
        (
            "rota/store/cursors.py",
            "    return await fire_statement.all(",
            "    decided = await fire_statement.all(",
        ),
        ("rota/store/cursors.py", "        **values,\n    )\n", SECOND_TRANSACTION),
        caught_by={"I3"},
    ),
    breaking(
        "a reaper takes by id what it has read before",
        ("rota/store/live_runs.py", "\n    return await RECLAIM.all(", STALE_READ),
        (
            f"{SQL}/live_runs/reclaim.sql",
            "or s.expires_at = '-infinity'",
            "or r.id = any(current_setting('storm.ids')::uuid[])",
        ),
        caught_by={"I10"},
    ),
    breaking(
        "a reaper buries by a clock that is ahead",
        (
            f"{SQL}/sessions/expire.sql",
            "s.expires_at <= rota.now()",
            "s.expires_at <= rota.now() + interval '50 ms'",
        ),
        caught_by={"I10"},
    ),
    breaking(
        "a worker claims by a clock that is ahead",
        (
            f"{SQL}/live_runs/claim.sql",
            "and w.ready_at <= (select rota.now() + :ahead::interval)",
            "and w.ready_at <= (select rota.now() + :ahead::interval + interval '100 ms')",
        ),
        caught_by={"I4", "I17"},
    ),
    breaking(
        "an attempt is counted when it fails, not when it is claimed",
        (f"{SQL}/live_runs/claim.sql", "attempt = r.attempt + 1", "attempt = r.failures + 1"),
        caught_by={"I8", "I9"},
    ),
    breaking(
        "a cancel reads and then writes",
        (
            "rota/store/live_runs.py",
            "\n    return await CANCEL.all(conn, ids=ids, reason=reason)\n",
            READ_THEN_WRITE,
        ),
        caught_by={"I14"},
    ),
    breaking(
        "a retry does not ask whether the run was cancelled",
        (f"{SQL}/live_runs/put_back.sql", "and g.was = 'running'", ""),
        (f"{SQL}/live_runs/put_back.sql", "and g.was = 'cancelling'", "and false"),
        (
            "rota/store/generated/state_guard.sql",
            "('running', 'retrying')\n",
            "('running', 'retrying'), ('cancelling', 'retrying')\n",
        ),
        caught_by={"I14"},
    ),
    breaking(
        "an at-most-once run is tried again when its worker is lost",
        (f"{SQL}/live_runs/reclaim.sql", "when r.guarantee = 'at_most_once' then 'lost'", ""),
        caught_by={"I15"},
    ),
    breaking(
        "a run is lost for ever without being set aside",
        (
            f"{SQL}/live_runs/reclaim.sql",
            "r.losses + 1 >= :most_losses",
            "r.losses >= 1000 * :most_losses",
        ),
        caught_by={"I17"},
    ),
    breaking(
        "the overlap policy sees only the runs that wait",
        (
            f"{SQL}/cursors/fire.sql",
            "l.state in ('running', 'cancelling')",
            "l.state in ('running', 'cancelling') and false",
        ),
        caught_by={"I11"},
    ),
    breaking(
        "a shard is taken from an owner whose lease holds",
        (
            f"{SQL}/shards/hold.sql",
            "(s.expires_at <= rota.now() or s.owner = :owner::uuid)",
            "(s.expires_at <= rota.now() + interval '80 ms' or s.owner = :owner::uuid)",
        ),
        caught_by={"I10"},
    ),
    breaking(
        "a shard changes hands and keeps its epoch",
        (
            f"{SQL}/shards/hold.sql",
            "+ (s.owner is distinct from :owner::uuid or s.expires_at <= rota.now())::integer",
            "",
        ),
        caught_by={"I10"},
    ),
    breaking(
        "a claim never looks behind its watermark again",
        (
            "rota/engine/dispatch/run_claimer.py",
            "if now - trace.walked_at >= trace.rest:",
            "if now - trace.walked_at >= trace.rest * 1000:",
        ),
        (
            "rota/engine/dispatch/run_claimer.py",
            "low = min(trace.bound, (now - COMMIT_LAG_MAX, _NO_ID))",
            "low = trace.bound",
        ),
        caught_by={"I6"},
        needs_late=True,
    ),
    breaking(
        "a paused job keeps its place in the line",
        (f"{SQL}/jobs/pause.sql", "fire_at = null,", "fire_at = c.fire_at,"),
        caught_by={"I14"},
    ),
    breaking(
        "a repeated request makes a finished run again",
        (f"{SQL}/live_runs/insert_many.sql", "done.id = n.id", "false"),
        (f"{SQL}/live_runs/drop_repeated.sql", "done.id = l.id", "false"),
        caught_by={"I7"},
    ),
    breaking(
        "the back-off of a retry is forgotten",
        (
            f"{SQL}/live_runs/put_back.sql",
            "ready_at = rota.now() + g.delay",
            "ready_at = rota.now()",
        ),
        caught_by={"I17"},
    ),
    breaking(
        "a limit is counted without locking its gate",
        (f"{SQL}/gates/lock.sql", "for no key update skip locked", ""),
        caught_by={"I11"},
    ),
    breaking(
        "an effect is committed though its run was not completed",
        (
            "rota/engine/execution/attempt_effects.py",
            "if moved.get(attempt.run_id) is not RunState.SUCCEEDED:",
            "if False:",
        ),
        caught_by={"I16"},
    ),
)
