-- Delete states at rest whose incidents are gone.
delete from rota.alert_states as s
where
    (s.expectation_id, s.subject_key) in (
        select
            o.expectation_id,
            o.subject_key
        from rota.alert_states as o
        where
            o.state = 'idle'
            and o.since < :before::timestamptz
        limit :most::integer
        for update skip locked
    )
returning s.expectation_id as id;
