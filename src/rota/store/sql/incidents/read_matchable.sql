-- Open incidents of a tenant with what silences match.
select
    i.id,
    i.subject_kind,
    i.subject_id,
    i.subject_name,
    i.job_id,
    i.queue,
    i.task,
    i.labels,
    i.silence_id,
    i.silenced_until,
    i.group_id
from rota.incidents as i
where
    i.tenant_id = :tenant_id::integer
    and i.state <> 'resolved';
