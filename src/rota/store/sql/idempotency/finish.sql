-- Store the response to a request, for repetitions.
update rota.idempotency
set
    status = :status::smallint,
    body = :body::bytea
where
    tenant_id = :tenant_id::integer
    and scope = :scope::text
    and key = :key::text
    and fingerprint = :fingerprint::bytea
    and status is null
returning status;
