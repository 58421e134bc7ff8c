-- Store the backlog of a paused job, or delete it once decided. The caller has locked the job.
update rota.jobs as j
set paused_stretches = :stretches::jsonb
where
    j.id = :id::uuid
    and j.paused_stretches is distinct from :stretches::jsonb;
