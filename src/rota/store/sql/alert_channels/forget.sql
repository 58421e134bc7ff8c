-- Delete channels that no process has reported since `reported_before`.
delete from rota.alert_channels as c
where c.reported_at < :reported_before::timestamptz
returning c.name;
