-- How many runs of a tenant ended since a time, by kind, and when the last one ended: a limited
-- number of the newest by id, and as many that ended more than an hour after the time in their ids.
-- `near_runs` is how many of the newest lie in the range of ids that could have ended since then:
-- if it equals the limit, there may be more. Requires the planner settings of
-- store/ordered_scan.py; run_views/scan.sql explains the form of the conditions.
with newest as materialized (
    select
        u.id,
        u.kind_id,
        u.state,
        u.finished_at,
        u.finished_at - least(u.scheduled_at, u.created_at) > interval '1 hour' as is_late
    from rota.runs as u
    where
        (u.tenant_id, u.id)
        < (:tenant_id::integer, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
        and (u.tenant_id, u.id)
        >= (:tenant_id::integer, '00000000-0000-0000-0000-000000000000'::uuid)
    order by u.tenant_id desc, u.id desc
    limit :most::integer
),

late as materialized (
    select
        u.kind_id,
        u.state,
        u.finished_at
    from rota.runs as u
    where
        u.tenant_id = :tenant_id::integer
        and u.finished_at >= :since::timestamptz
        and u.finished_at - least(u.scheduled_at, u.created_at) > interval '1 hour'
    limit :most::integer
)

select
    e.kind_id,
    count(*) filter (where e.counts) as ended,
    count(*) filter (where e.counts and e.state in ('dead', 'lost', 'quarantined')) as failed,
    count(*) filter (where e.counts and e.state = 'succeeded') as succeeded,
    max(e.finished_at) as last_finished_at,
    (
        select count(*) from newest as n
        where n.id >= :from_id::uuid
    ) as near_runs,
    (
        select min(n.finished_at)
        from newest as n
        where n.finished_at >= :since::timestamptz
    ) as first_at
from (
    select
        n.kind_id,
        n.state,
        n.finished_at,
        not n.is_late
        and n.finished_at >= :since::timestamptz
        and n.state not in ('skipped', 'missed', 'coalesced') as counts
    from newest as n
    union all
    select
        l.kind_id,
        l.state,
        l.finished_at,
        l.state not in ('skipped', 'missed', 'coalesced') as counts
    from late as l
) as e
group by e.kind_id
order by e.kind_id;
