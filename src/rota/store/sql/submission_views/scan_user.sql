-- Ids of one user's submissions that match a filter, like walk.sql for a tenant. A separate file,
-- because it scans the user's indexes. History has no such index: there the scan is bounded.
with looked_ahead as materialized (
    select
        s.id,
        (
            s.id >= :from_id::uuid
            and s.created_at >= :from_at::timestamptz
            and s.created_at < :until_at::timestamptz
            and (:kind_id::integer is null or s.kind_id = :kind_id::integer)
            and (:queue_id::integer is null or s.queue_id = :queue_id::integer)
            and (:label_key::text is null or s.labels ->> :label_key::text = :label_value::text)
            and (
                :pattern::text is null
                or coalesce(
                    s.name,
                    (
                        select k.name from rota.kinds as k
                        where k.id = s.kind_id
                    )
                ) ilike :pattern::text
            )
        ) as fits
    from rota.scheduled_runs as s
    where
        s.tenant_id = :tenant_id::integer
        and s.user_id = :user_id::text
        and s.id < :before_id::uuid
        and :scheduled::boolean
    order by s.tenant_id desc, s.user_id desc, s.id desc
    limit :look::integer
),

looked_live as materialized (
    select
        w.id,
        (
            (
                w.id = w.job_id
                or (
                    w.trigger in ('api', 'tick')
                    and (
                        select true from rota.jobs as j
                        where j.id = w.job_id
                    ) is null
                )
            )
            and w.id >= :from_id::uuid
            and w.created_at >= :from_at::timestamptz
            and w.created_at < :until_at::timestamptz
            and (:kind_id::integer is null or w.kind_id = :kind_id::integer)
            and (:queue_id::integer is null or w.queue_id = :queue_id::integer)
            and (:label_key::text is null or w.labels ->> :label_key::text = :label_value::text)
            and (
                :pattern::text is null
                or coalesce(
                    w.name,
                    (
                        select k.name from rota.kinds as k
                        where k.id = w.kind_id
                    )
                ) ilike :pattern::text
            )
        ) as fits
    from rota.live_runs as w
    where
        w.tenant_id = :tenant_id::integer
        and w.user_id = :user_id::text
        and w.id < :before_id::uuid
        and w.state in ('blocked', 'queued', 'retrying')
        and w.trigger <> 'graph'
        and :waiting::boolean
    order by w.tenant_id desc, w.user_id desc, w.id desc
    limit :look::integer
),

looked_back as materialized (
    select
        r.id,
        (
            (
                r.id = r.job_id
                or (
                    r.trigger in ('api', 'tick')
                    and (
                        select true from rota.jobs as j
                        where j.id = r.job_id
                    ) is null
                )
            )
            and r.id >= :from_id::uuid
            and r.created_at >= :from_at::timestamptz
            and r.created_at < :until_at::timestamptz
            and (:kind_id::integer is null or r.kind_id = :kind_id::integer)
            and (:queue_id::integer is null or r.queue_id = :queue_id::integer)
            and (:label_key::text is null or r.labels ->> :label_key::text = :label_value::text)
            and (
                :pattern::text is null
                or coalesce(
                    r.name,
                    (
                        select k.name from rota.kinds as k
                        where k.id = r.kind_id
                    )
                ) ilike :pattern::text
            )
            and coalesce(r.user_id = :user_id::text, false)
        ) as fits
    from rota.runs as r
    where
        (r.tenant_id, r.id) < (:tenant_id::integer, :before_id::uuid)
        and (r.tenant_id, r.id)
        >= (:tenant_id::integer, '00000000-0000-0000-0000-000000000000'::uuid)
        and r.id < :before_id::uuid
        and :ended::boolean
    order by r.tenant_id desc, r.id desc
    limit :look::integer
),

ahead as materialized (
    select l.id
    from looked_ahead as l
    where l.fits
    limit :most::integer
),

waiting as materialized (
    select l.id
    from looked_live as l
    where l.fits
    limit :most::integer
),

ended as materialized (
    select l.id
    from looked_back as l
    where l.fits
    limit :most::integer
),

in_hand as materialized (
    select h.id
    from rota.live_runs as h
    where
        h.state in ('running', 'cancelling')
        and h.trigger <> 'graph'
        and :held::boolean
        and h.tenant_id = :tenant_id::integer
        and h.user_id = :user_id::text
        and (
            h.id = h.job_id
            or (
                h.trigger in ('api', 'tick')
                and (
                    select true from rota.jobs as j
                    where j.id = h.job_id
                ) is null
            )
        )
        and h.id >= :from_id::uuid
        and h.created_at >= :from_at::timestamptz
        and h.created_at < :until_at::timestamptz
        and (:kind_id::integer is null or h.kind_id = :kind_id::integer)
        and (:queue_id::integer is null or h.queue_id = :queue_id::integer)
        and (:label_key::text is null or h.labels ->> :label_key::text = :label_value::text)
        and (
            :pattern::text is null
            or coalesce(
                h.name,
                (
                    select k.name from rota.kinds as k
                    where k.id = h.kind_id
                )
            ) ilike :pattern::text
        )
)

select
    i.id,
    true as fits
from (
    select h.id
    from in_hand as h
    where h.id < :before_id::uuid
    order by h.id desc
    limit :most::integer
) as i
union all
select
    f.id,
    true as fits
from ahead as f
union all
select
    f.id,
    true as fits
from waiting as f
union all
select
    f.id,
    true as fits
from ended as f
union all
select
    e.id,
    false as fits
from (select l.id from looked_ahead as l limit 1 offset :look::integer - 1) as e
where (select count(*) from ahead) < :most::integer
union all
select
    e.id,
    false as fits
from (select l.id from looked_live as l limit 1 offset :look::integer - 1) as e
where (select count(*) from waiting) < :most::integer
union all
select
    e.id,
    false as fits
from (select l.id from looked_back as l limit 1 offset :look::integer - 1) as e
where (select count(*) from ended) < :most::integer;
