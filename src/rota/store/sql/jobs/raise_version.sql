-- Raise the version of a job and of its cursor; its definition stays the same. A tick that is being
-- decided at this moment has read the old version: it changes nothing, is decided again, and then
-- sees the run that is inserted here.
with touched as (
    update rota.jobs as j
    set
        version = j.version + 1,
        version_skips = j.version_skips + 1
    where j.id = :id::uuid
    returning j.id, j.version
),

moved as (
    update rota.cursors as c
    set version = t.version
    from touched as t
    where c.job_id = t.id
)

select t.version from touched as t;
