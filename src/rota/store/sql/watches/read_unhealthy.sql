-- Which jobs and tenants have subjects that are not healthy by one of these conditions, so that
-- their successes matter.
select distinct
    w.tenant_id,
    w.job_id
from rota.watches as w
where
    w.state <> 'ok'
    and w.condition = any(:conditions::text[])
limit :most::integer;
