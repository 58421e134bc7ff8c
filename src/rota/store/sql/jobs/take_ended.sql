-- Remove jobs whose cursor has ended from the list, in batches.
delete from rota.ended_jobs as e
where
    e.ctid = any(array(
        select w.ctid from rota.ended_jobs as w
        limit :most::integer
        for update skip locked
    ))
returning e.job_id;
