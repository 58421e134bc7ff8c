-- Incidents of all tenants that are not resolved, by severity.
select
    i.severity,
    count(*) as number
from rota.incidents as i
where i.state <> 'resolved'
group by i.severity
order by i.severity;
