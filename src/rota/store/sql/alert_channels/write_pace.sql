-- Record what a channel got.
update rota.alert_channels as c
set
    sent_times = :sent_times::timestamptz[],
    page_times = :page_times::timestamptz[],
    digest_at = :digest_at::timestamptz
where c.name = :name::text
returning c.name;
