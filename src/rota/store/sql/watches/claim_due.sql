-- The watches whose check is due, the longest overdue first, with their jobs. They are locked until
-- the transaction ends; watches that another process checks now are skipped.
with due as materialized (
    select w.*
    from rota.watches as w
    where w.next_check_at <= (select rota.now())
    order by w.next_check_at
    limit :most::integer
    for update skip locked
)

select
    d.expectation_id,
    d.subject_key,
    d.tenant_id,
    d.job_id,
    d.condition,
    d.definition,
    d.state,
    d.since,
    d.next_check_at,
    d.tick_at,
    d.due_at,
    d.late_tick_at,
    d.run_id,
    d.streak,
    d.met_in_row,
    d.watched_since,
    d.job_version,
    d.evidence,
    j.name as job_name,
    j.state as job_state,
    j.version as current_version,
    j.schedule,
    j.labels,
    q.name as queue,
    k.name as task,
    c.tick_at as cursor_tick_at,
    c.fire_at as cursor_fire_at,
    c.fired,
    rota.now() as now
from due as d
left join rota.jobs as j on d.job_id = j.id
left join rota.queues as q on j.queue_id = q.id
left join rota.kinds as k on j.kind_id = k.id
left join rota.cursors as c on d.job_id = c.job_id;
