-- Delete a limited number of schedules that no job with future ticks has used since before a time.
-- Record of the others whether they are in use.
with used as materialized (
    select c.schedule_id as id from rota.cursors as c
    where c.schedule_id is not null
),

deleted as (
    delete from rota.schedules as d
    where
        d.id = any(array(
            select o.id
            from rota.schedules as o
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
    update rota.schedules as m
    set unused_since = case when m.unused_since is null then rota.now() end
    where (m.unused_since is null) <> (m.id in (select used.id from used))
)

select count(*) as number
from deleted;
