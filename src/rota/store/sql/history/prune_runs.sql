-- Delete runs in the rest partition that ended too long ago, with their related rows. By their end
-- and not by their id: a backfill of last year's ticks ran today, and is kept as long as other runs
-- of today. The ids are an array, so that each table is searched by its key and not read as a
-- whole.
with old as materialized (
    select
        r.tenant_id,
        r.id
    from rota.runs_rest as r
    where r.finished_at < :before::timestamptz
    limit :most::integer
    for update skip locked
),

ids as materialized (
    select array(select o.id from old as o) as gone
),

attempts as (
    delete from rota.attempts_rest as a
    where a.run_id = any((select i.gone from ids as i)::uuid[])
),

logs as (
    delete from rota.run_logs_rest as l
    where l.run_id = any((select i.gone from ids as i)::uuid[])
),

notes as (
    delete from rota.run_notes_rest as n
    where n.run_id = any((select i.gone from ids as i)::uuid[])
),

graphs as (
    delete from rota.graph_runs_rest as g
    where g.run_id = any((select i.gone from ids as i)::uuid[])
),

maps as (
    delete from rota.graph_maps_rest as m
    where m.run_id = any((select i.gone from ids as i)::uuid[])
),

items as (
    delete from rota.graph_items_rest as t
    where t.run_id = any((select i.gone from ids as i)::uuid[])
)

delete from rota.runs_rest as r
using old as o
where
    r.tenant_id = o.tenant_id
    and r.id = o.id
returning r.id;
