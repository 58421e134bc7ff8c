-- How many incidents opened from a time on.
select count(*) as incidents from rota.incidents as i
where i.opened_at >= :since::timestamptz;
