-- Quarantine a job that cannot be scheduled. Its cursor keeps its position and is not read again. A
-- job that was edited first stays as it is.
with chosen as (
    select j.id
    from rota.jobs as j
    where
        j.id = :id::uuid
        and j.version = :version::integer
        and j.state = 'active'
    for update
),

stopped as (
    update rota.cursors as c
    set
        fire_at = null,
        version = c.version + 1
    from chosen as ch
    where c.job_id = ch.id
)

update rota.jobs as j
set
    state = 'quarantined',
    version = j.version + 1,
    version_skips = j.version_skips + 1,
    held = jsonb_build_object('by', 'scheduler', 'at', rota.now(), 'reason', :reason::text),
    updated_at = rota.now()
from chosen as ch
where j.id = ch.id
returning j.id;
