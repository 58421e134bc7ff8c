-- The unresolved incidents, the most severe first, without those that another problem explains.
-- Without a tenant, those of all tenants and of the installation.
select
    i.id,
    i.tenant_id,
    i.state,
    i.severity,
    i.title,
    i.condition,
    i.subject_kind,
    i.subject_id,
    i.subject_name,
    i.job_id,
    i.run_id,
    i.opened_at,
    i.acknowledged_by,
    i.silenced_until,
    i.count as bad_runs
from rota.incidents as i
where
    i.state <> 'resolved'
    and i.inhibited_by is null
    and (:tenant_id::integer is null or i.tenant_id = :tenant_id::integer)
order by
    array_position(array['page', 'warning', 'info'], i.severity) asc,
    i.opened_at asc,
    i.id asc
limit :most::integer;
