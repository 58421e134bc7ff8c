-- Delete groups that have been at rest for long and have no incident left.
delete from rota.alert_groups as g
where
    g.id in (
        select o.id from rota.alert_groups as o
        where
            o.next_at is null
            and o.changed_at < :before::timestamptz
            and o.began_at is null
            and not exists (
                select 1 from rota.incidents as i
                where
                    i.group_id = o.id
                    and i.state <> 'resolved'
            )
        order by o.changed_at
        limit :most::integer
        for update skip locked
    )
returning g.id;
