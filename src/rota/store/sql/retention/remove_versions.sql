-- Remove a limited number of definitions that were superseded before a time: no stored run used
-- them.
delete from rota.job_versions as v
where
    (v.job_id, v.until_version) in (
        select
            old.job_id,
            old.until_version
        from rota.job_versions as old
        where old.valid_until < :before::timestamptz
        order by old.valid_until
        limit :most::integer
        for update skip locked
    )
returning v.job_id as id;
