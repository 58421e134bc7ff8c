-- Take jobs whose cursor has ended off the list, a batch at a time.
delete from rota.ended_jobs as e
where
    e.ctid = any(array(
        select w.ctid from rota.ended_jobs as w
        limit :most::integer
        for update skip locked
    ))
returning e.job_id;
