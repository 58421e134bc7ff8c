-- Take away piles that the caller has locked: they are runs now, or nothing.
delete from rota.event_piles as p
using unnest(:job_ids::uuid[], :keys::text[]) as n (job_id, key)
where
    p.job_id = n.job_id
    and p.key = n.key
returning p.job_id;
