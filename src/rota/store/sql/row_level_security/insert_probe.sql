-- Insert a row of a tenant that cannot exist, to look for it as another one; never committed.
insert into rota.idempotency (tenant_id, scope, key, fingerprint)
values (:tenant_id::integer, 'wall', 'probe', decode(repeat('00', 32), 'hex'))
returning tenant_id;
