-- The audit log by month, so that retention drops a month at a time (docs/adr/0050-retention.md).
-- The months are children of rota.audit: code of the previous release reads them through it, and
-- what it inserts is routed to them. Rows from before stay in rota.audit until they are too old.

-- Sends a new entry to the table of its month, if there is one. As the owner, because nobody else
-- may write to a month; so the rule of the tenant's row-level security is checked here.
create function rota.route_audit() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    tenant constant text := nullif(current_setting('rota.tenant', true), '');
    month constant text := 'audit_' || to_char(new.at at time zone 'UTC', 'YYYYMM');
begin
    if tenant is not null and tenant::integer <> new.tenant_id then
        raise exception 'new row violates row-level security policy for table "audit"'
            using errcode = '42501';
    end if;
    if to_regclass('rota.' || month) is null then
        return new;
    end if;
    execute format('insert into rota.%I select ($1).*', month) using new;
    return null;
end
$$;

create trigger audit_by_month
before insert on rota.audit
for each row execute function rota.route_audit();

-- Creates the table of the month of a day. False if it is there already.
create function rota.make_audit_month(day date) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    first constant timestamptz := date_trunc('month', day::timestamp) at time zone 'UTC';
    next constant timestamptz := (date_trunc('month', day::timestamp) + interval '1 month')
        at time zone 'UTC';
    month constant text := 'audit_' || to_char(day, 'YYYYMM');
begin
    -- One maker at a time; the others find it made.
    perform pg_advisory_xact_lock(hashtext('rota ' || month));
    if to_regclass('rota.' || month) is not null then
        return false;
    end if;
    execute format(
        'create table rota.%I (like rota.audit including defaults including indexes, '
        'check (at >= %L and at < %L)) inherits (rota.audit)',
        month, first, next
    );
    execute format('alter table rota.%I enable row level security', month);
    execute format(
        'create trigger audit_only_grows before update or delete or truncate on rota.%I '
        'for each statement execute function rota.refuse_rewriting()',
        month
    );
    return true;
end
$$;

-- Drops the table of the month of a day; the whole month must lie before today. Of the entries from
-- before there were months, it deletes those of that month and earlier, at most 500 for each call.
create function rota.drop_audit_month(day date) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    next constant timestamptz := (date_trunc('month', day::timestamp) + interval '1 month')
        at time zone 'UTC';
begin
    if next > date_trunc('day', rota.now() at time zone 'UTC') at time zone 'UTC' then
        raise exception 'the month of % is not over', day using errcode = '22023';
    end if;
    execute format('drop table if exists rota.%I', 'audit_' || to_char(day, 'YYYYMM'));
    perform set_config('rota.retention', 'on', true);
    delete from only rota.audit as a
    where
        a.id in (
            select o.id from only rota.audit as o
            where o.at < next
            order by o.id
            limit 500
        );
    perform set_config('rota.retention', '', true);
end
$$;

-- Retention may delete entries that belong to no month; it says so in rota.retention.
create or replace function rota.refuse_rewriting() returns trigger
language plpgsql
as $$
begin
    if tg_op = 'DELETE' and current_setting('rota.retention', true) = 'on' then
        return null;
    end if;
    raise exception 'rota.% is only ever added to', tg_table_name using errcode = 'RT002';
end
$$;

revoke execute on function rota.route_audit() from public;
revoke execute on function rota.make_audit_month(date) from public;
revoke execute on function rota.drop_audit_month(date) from public;

-- As before, and of the audit log the month that a day lies in.
create or replace function rota.make_partition(parent text, day date) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- An id begins with its time in milliseconds: 48 bits of 128.
    low constant uuid := (
        lpad(to_hex((extract(epoch from day::timestamp) * 1000)::bigint), 12, '0')
        || repeat('0', 20)
    )::uuid;
    high constant uuid := (
        lpad(to_hex((extract(epoch from day::timestamp + '1 day') * 1000)::bigint), 12, '0')
        || repeat('0', 20)
    )::uuid;
    partition constant text := parent || to_char(day, '_YYYYMMDD');
    key text := 'run_id';
    room integer := 100;
begin
    if parent = 'audit' then
        return rota.make_audit_month(day);
    end if;
    case parent
        when 'runs', 'events' then key := 'id';
        -- Rows that change several times: with room beside them no index needs a new entry.
        when 'graph_runs' then room := 60;
        when 'graph_maps' then room := 50;
        when 'attempts', 'run_logs', 'run_notes', 'graph_items' then null;
        else raise exception 'rota.% has no partitions by day', parent using errcode = '22023';
    end case;
    -- One maker at a time; the others find it made.
    perform pg_advisory_xact_lock(hashtext('rota ' || partition));
    if to_regclass('rota.' || partition) is not null then
        return false;
    end if;
    execute format(
        'create table rota.%I (like rota.%I including all) with (fillfactor = %s)',
        partition, parent, room
    );
    execute format(
        'with strayed as (delete from rota.%I where %I >= %L and %I < %L returning *) '
        'insert into rota.%I select * from strayed',
        parent || '_rest', key, low, key, high, partition
    );
    execute format(
        'alter table rota.%I attach partition rota.%I for values from (%L) to (%L)',
        parent, partition, low, high
    );
    return true;
end
$$;

create or replace function rota.drop_partition(parent text, day date) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if parent = 'audit' then
        perform rota.drop_audit_month(day);
        return;
    end if;
    if parent not in (
        'runs', 'attempts', 'run_logs', 'run_notes', 'graph_runs', 'graph_maps', 'graph_items',
        'events'
    ) then
        raise exception 'rota.% has no partitions by day', parent using errcode = '22023';
    end if;
    if day >= (rota.now() at time zone 'UTC')::date then
        raise exception 'the day % is not over', day using errcode = '22023';
    end if;
    execute format('drop table if exists rota.%I', parent || to_char(day, '_YYYYMMDD'));
end
$$;
