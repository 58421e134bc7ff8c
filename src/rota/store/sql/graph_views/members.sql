-- Members of a map in order, which is the order of their ids. Reads a limited number of ended ones:
-- if they did not fill the page, a row with `fits = false` says how far the scan went.
with looked as materialized (
    select
        r.id,
        r.member,
        (
            :states::rota.run_state[] is null or r.state = any(:states::rota.run_state[])
        ) as fits
    from rota.runs as r
    where
        r.id > :after_id::uuid
        and r.id <= :last_id::uuid
        and r.graph_run_id = :run_id::uuid
        and r.tenant_id = :tenant_id::integer
        and :ended::boolean
    order by r.id
    limit :look::integer
),

fitting as materialized (
    select
        l.id,
        l.member
    from looked as l
    where l.fits
    limit :most::integer
),

alive as (
    select
        w.id,
        w.member
    from rota.live_runs as w
    where
        w.id > :after_id::uuid
        and w.id <= :last_id::uuid
        and w.graph_run_id = :run_id::uuid
        and w.tenant_id = :tenant_id::integer
        and :alive::boolean
        and (:states::rota.run_state[] is null or w.state = any(:states::rota.run_state[]))
    order by w.id
    limit :most::integer
)

select
    a.id,
    a.member,
    true as fits
from alive as a
union all
select
    f.id,
    f.member,
    true as fits
from fitting as f
union all
select
    e.id,
    e.member,
    false as fits
from (
    select
        l.id,
        l.member
    from looked as l
    limit 1 offset :look::integer - 1
) as e
where (select count(*) from fitting) < :most::integer;
