-- Store items until they become members, in rows of up to a thousand.
insert into rota.graph_items (run_id, step, first, tenant_id, number, items)
select
    :run_id::uuid,
    :step::integer,
    i.first,
    :tenant_id::integer,
    jsonb_array_length(i.items),
    i.items
from unnest(:firsts::integer[], :items::jsonb[]) as i (first, items)
returning run_id;
