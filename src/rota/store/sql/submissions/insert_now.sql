-- Insert submissions that are due now, each as a waiting run. Their ids are newly generated and
-- unused. What several share is sent once, as columns of models; `model` is the number of each
-- submission's model, and is omitted if there is only one.
-- Columns are array literals (store/array_literals.py).
insert into rota.live_runs (
    id, job_id, scheduled_at, due_at, ready_at, created_at, deadline_at, tenant_id, queue_id,
    kind_id, policy_id, job_version, state, trigger, priority, guarantee, payload, gates, name,
    labels, user_id, submitter, address
)
select
    n.id,
    n.id as job_id,
    :due_at::timestamptz,
    :due_at::timestamptz,
    greatest(:due_at::timestamptz, clock.now),
    clock.now,
    :due_at::timestamptz + (:deadlines::interval[])[coalesce(n.model, 1)],
    :tenant_id::integer,
    (:queue_ids::integer[])[coalesce(n.model, 1)],
    (:kind_ids::integer[])[coalesce(n.model, 1)],
    (:policy_ids::integer[])[coalesce(n.model, 1)],
    1,
    'queued',
    'api',
    (:priorities::smallint[])[coalesce(n.model, 1)],
    (:guarantees::rota.guarantee[])[coalesce(n.model, 1)],
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
        :models::integer[],
        :names::text::text[],
        :payloads::text::jsonb[],
        :labels::text::jsonb[],
        :user_ids::text::text[],
        -- As text: an array of arrays would have to be rectangular.
        :gates::text::text[]
    ) as n (id, model, name, payload, labels, user_id, gates)
cross join (select rota.now() as now) as clock;
