-- Deletes the cursors of last ticks. The statement adds columns to `returning`.
delete from rota.cursors as c
using ticks as t
where
    t.next_tick_at is null
    and c.job_id = t.job_id
    and c.version = t.version
    and c.tick_at = t.tick_at
    and c.fire_at <= (select rota.now() + :ahead::interval)
    and c.shard = any(array(select held.id from held))
returning
    c.job_id, t.run_id, t.tick_at, t.due_at, c.tenant_id, c.queue_id, c.kind_id,
    c.policy_id, c.version, c.priority, c.overlap, c.guarantee, c.gates, c.deadline,
