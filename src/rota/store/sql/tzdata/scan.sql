-- The next cursors by job, and whether the rules of these zones may affect them, through the
-- schedule or its calendars.
with part as materialized (
    select
        c.job_id,
        c.schedule_id
    from rota.cursors as c
    where c.job_id > :after::uuid
    order by c.job_id
    limit :most::integer
)

select
    p.job_id,
    coalesce(
        s.body ->> 'timezone' = any(:zones::text[])
        or s.body -> 'calendars' <> '[]'::jsonb,
        false
    ) as may_move
from part as p
left join rota.schedules as s on p.schedule_id = s.id
order by p.job_id;
