-- Register the start of a process. Its id was generated at that start and is never reused (F18).
insert into rota.sessions (
    id, role, name, queues, kinds, slots, serves, observe_url, version, expires_at
)
values (
    :id::uuid,
    :role::rota.session_role,
    :name::text,
    :queues::integer[],
    :kinds::integer[],
    :slots::integer,
    :serves::jsonb,
    :observe_url::text,
    :version::text,
    rota.now() + :ttl::interval
)
returning expires_at;
