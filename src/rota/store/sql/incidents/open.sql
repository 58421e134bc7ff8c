-- Open incidents. Their ids are derived, and the caller has locked their states.
insert into rota.incidents (
    id, tenant_id, state, severity, title, condition, expectation_id, expectation_name,
    subject_kind, subject_id, subject_name, job_id, queue, task, labels, run_id, facts, count,
    opened_at, last_seen_at, is_flapping, silence_id, silenced_until, group_id
)
select
    n.id,
    n.tenant_id,
    'open',
    n.severity,
    n.title,
    n.condition,
    n.expectation_id,
    n.expectation_name,
    n.subject_kind,
    n.subject_id,
    n.subject_name,
    n.job_id,
    n.queue,
    n.task,
    n.labels,
    n.run_id,
    n.facts,
    n.count,
    :now::timestamptz,
    :now::timestamptz,
    n.is_flapping,
    n.silence_id,
    n.silenced_until,
    n.group_id
from
    jsonb_to_recordset(:rows::jsonb) as n (
        id uuid,
        tenant_id integer,
        severity text,
        title text,
        condition text,
        expectation_id uuid,
        expectation_name text,
        subject_kind text,
        subject_id text,
        subject_name text,
        job_id uuid,
        queue text,
        task text,
        labels jsonb,
        run_id uuid,
        facts jsonb,
        count bigint,
        is_flapping boolean,
        silence_id uuid,
        silenced_until timestamptz,
        group_id uuid
    )
order by n.id
on conflict (id) do nothing;
