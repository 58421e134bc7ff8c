-- Pause jobs: no tick commits after this, and the cursor keeps its position. The backlog of an
-- earlier pause does not carry over.
with chosen as (
    select j.id
    from rota.jobs as j
    where
        j.id = any(:ids::uuid[])
        and j.state in ('active', 'quarantined')
    order by j.id
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
    state = 'paused',
    version = j.version + 1,
    version_skips = j.version_skips + 1,
    held = :held::jsonb,
    paused_stretches = null,
    updated_at = rota.now()
from chosen as ch
where j.id = ch.id
returning j.id, j.version;
