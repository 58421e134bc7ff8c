-- Store which channels a process can send to. Rewrites a row only if it changed or was reported
-- before `fresh_after`; health and pace stay. In the order of names: processes report together.
with given as (
    select
        g.name,
        g.kind,
        array(
            select jsonb_array_elements_text(g.tenants)
        ) as tenants,
        g.is_default,
        g.recovery,
        g.minimum_severity,
        g.messages_per_hour,
        g.pages_per_hour
    from
        jsonb_to_recordset(:channels::jsonb) as g (
            name text,
            kind text,
            tenants jsonb,
            is_default boolean,
            recovery boolean,
            minimum_severity text,
            messages_per_hour integer,
            pages_per_hour integer
        )
    order by g.name
)

insert into rota.alert_channels as c (
    name, kind, tenants, is_default, recovery, minimum_severity, messages_per_hour,
    pages_per_hour, reported_at
)
select
    given.name,
    given.kind,
    given.tenants,
    given.is_default,
    given.recovery,
    given.minimum_severity,
    given.messages_per_hour,
    given.pages_per_hour,
    :now::timestamptz as reported_at
from given
on conflict (name) do update
    set
        kind = excluded.kind,
        tenants = excluded.tenants,
        is_default = excluded.is_default,
        recovery = excluded.recovery,
        minimum_severity = excluded.minimum_severity,
        messages_per_hour = excluded.messages_per_hour,
        pages_per_hour = excluded.pages_per_hour,
        reported_at = greatest(c.reported_at, excluded.reported_at)
    where
    c.reported_at < :fresh_after::timestamptz
    or (
        c.kind, c.tenants, c.is_default, c.recovery, c.minimum_severity,
        c.messages_per_hour, c.pages_per_hour
    ) is distinct from (
        excluded.kind, excluded.tenants, excluded.is_default, excluded.recovery,
        excluded.minimum_severity, excluded.messages_per_hour, excluded.pages_per_hour
    )
returning c.name;
