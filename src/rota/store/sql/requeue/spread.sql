-- Space out the starts of runs that were just requeued, in order.
with placed as (
    select
        i.id,
        i.place
    from unnest(:ids::uuid[]) with ordinality as i (id, place)
)

update rota.live_runs as r
set ready_at = rota.now() + (p.place - 1 + :before::bigint) * :spacing::interval
from placed as p
where
    r.id = p.id
    and r.state = 'queued'
returning r.id;
