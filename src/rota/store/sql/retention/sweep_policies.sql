-- Delete a limited number of policies that no job and no unfinished run has used since before a
-- time. Record of the others whether they are in use.
with used as materialized (
    select j.policy_id as id from rota.jobs as j
    union
    select c.policy_id from rota.cursors as c
    union
    select l.policy_id from rota.live_runs as l
    union
    select s.policy_id from rota.scheduled_runs as s
),

deleted as (
    delete from rota.policies as d
    where
        d.id = any(array(
            select o.id
            from rota.policies as o
            where
                o.unused_since < :before::timestamptz
                and o.id not in (select used.id from used)
            order by o.id
            limit :most::integer
            for update skip locked
        ))
    returning d.id
),

marked as (
    update rota.policies as m
    set unused_since = case when m.unused_since is null then rota.now() end
    where (m.unused_since is null) <> (m.id in (select used.id from used))
)

select count(*) as number
from deleted;
