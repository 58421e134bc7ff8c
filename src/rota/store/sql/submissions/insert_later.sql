-- Insert scheduled submissions. Like insert_now.sql, with the shard and due time of each.
insert into rota.scheduled_runs (
    tenant_id, id, shard, due_at, queue_id, kind_id, policy_id, priority, guarantee, deadline,
    payload, gates, name, labels, user_id, submitter, address
)
select
    :tenant_id::integer,
    n.id,
    n.shard,
    n.due_at,
    (:queue_ids::integer[])[coalesce(n.model, 1)],
    (:kind_ids::integer[])[coalesce(n.model, 1)],
    (:policy_ids::integer[])[coalesce(n.model, 1)],
    (:priorities::smallint[])[coalesce(n.model, 1)],
    (:guarantees::rota.guarantee[])[coalesce(n.model, 1)],
    (:deadlines::interval[])[coalesce(n.model, 1)],
    n.payload,
    n.gates::integer[],
    n.name,
    n.labels,
    n.user_id,
    (:submitters::text[])[coalesce(n.model, 1)],
    (:addresses::text[])[coalesce(n.model, 1)]
from
    unnest(
        :ids::text::uuid[],
        :shards::text::smallint[],
        :due_ats::text::timestamptz[],
        :models::integer[],
        :names::text::text[],
        :payloads::text::jsonb[],
        :labels::text::jsonb[],
        :user_ids::text::text[],
        -- As text: an array of arrays would have to be rectangular.
        :gates::text::text[]
    ) as n (id, shard, due_at, model, name, payload, labels, user_id, gates);
