-- Write the new contents of batches that the caller has locked.
update rota.event_piles as p
set
    run_id = n.run_id,
    opened_at = n.opened_at,
    due_at = n.due_at,
    count = n.count,
    size = n.size,
    filled = n.filled
from
    unnest(
        :job_ids::uuid[],
        :keys::text[],
        :run_ids::uuid[],
        :opened_ats::timestamptz[],
        :due_ats::timestamptz[],
        :counts::integer[],
        :sizes::integer[],
        :filled::integer[]
    ) as n (job_id, key, run_id, opened_at, due_at, count, size, filled)
where
    p.job_id = n.job_id
    and p.key = n.key
returning p.job_id;
