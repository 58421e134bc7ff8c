-- Keep what a paused job had, or forget it once it was decided. The caller has locked the job.
update rota.jobs as j
set paused_stretches = :stretches::jsonb
where
    j.id = :id::uuid
    and j.paused_stretches is distinct from :stretches::jsonb;
