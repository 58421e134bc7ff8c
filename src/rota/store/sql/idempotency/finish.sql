-- Keep the answer to a request, for those who ask again.
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
