-- Count retried members as unfinished again; the next batch starts after the last of them.
update rota.graph_maps as m
set
    again = greatest(0, m.again - :number::integer),
    again_after = :after::integer
where
    m.run_id = :run_id::uuid
    and m.step = :step::integer
    and m.again_after < :after::integer
returning m.run_id;
