-- Whether audit entries from before a time belong to no month table.
select
    exists(
        select 1 from rota.audit as a
        where
            a.tableoid = 'rota.audit'::regclass
            and a.at < :before::timestamptz
    ) as is_left;
