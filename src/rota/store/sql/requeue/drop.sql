-- Drop dead letters: they stay in history with their state, and are no longer listed.
update rota.runs as r
set
    dropped_at = rota.now(),
    reason = coalesce(r.reason, '{}') || jsonb_build_object('dropped_by', :by::text)
where
    r.id = any(:ids::uuid[])
    and r.tenant_id = :tenant_id::integer
    and r.state in ('dead', 'lost', 'quarantined')
    and r.dropped_at is null
returning r.id;
