-- How many runs of a tenant are held by workers now.
select count(*) as number
from rota.live_runs as l
where
    l.state in ('running', 'cancelling')
    and l.tenant_id = :tenant_id::integer;
