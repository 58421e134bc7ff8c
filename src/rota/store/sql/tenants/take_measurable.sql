-- Take tenants whose use of their default quotas was not measured recently; two nodes never take
-- the same one.
with due as (
    select t.id
    from rota.tenants as t
    where
        t.measured_at is null
        or t.measured_at <= rota.now() - :age::interval
    order by t.measured_at asc nulls first
    limit :most::integer
    for no key update skip locked
)

update rota.tenants as t
set measured_at = rota.now()
where t.id = any(array(select d.id from due as d))
returning t.id, t.quotas, t.default_quotas;
