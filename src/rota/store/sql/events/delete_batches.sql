-- Delete batches that the caller has locked: they became runs, or were discarded.
delete from rota.event_piles as p
using unnest(:job_ids::uuid[], :keys::text[]) as n (job_id, key)
where
    p.job_id = n.job_id
    and p.key = n.key
returning p.job_id;
