-- Database roles of the processes: what an API or a scheduler may do, and what a worker may do
-- (docs/adr/0039-database-roles.md). The owner of the schema migrates and needs no grants.

-- What each role may do with each table, in the words of GRANT; `all` is select, insert, update and
-- delete, an empty text is nothing. A migration that adds a table adds a row here for it, then
-- calls rota.grant_roles(). A test compares these rows with the tables and their privileges.
create table rota.role_grants (
    relation text primary key,
    service text not null,
    worker text not null
);

insert into rota.role_grants (relation, service, worker) values
('migrations', 'select', 'select'),
('role_grants', 'select', ''),
-- Whom a worker serves: never written by it, and read without what it does not need.
('tenants', 'all', 'select (id, name, weight, quotas, default_quotas, paused_at, gate_id)'),
('queues', 'all', 'select, insert (name, made_by)'),
('tenant_queues', 'all', 'select, insert'),
('kinds', 'all', 'select, insert (name, made_by), update (payload_schema, exactly_once)'),
('policies', 'all', 'select, insert'),
('schedules', 'all', 'select, insert'),
('calendars', 'all', 'select'),
-- Jobs and runs. A worker registers the schedules of its app and completes runs.
('jobs', 'all', 'select, insert, update'),
('cursors', 'all', 'all'),
('ended_jobs', 'all', 'select'),
('gates', 'all', 'select, insert, update'),
('unique_keys', 'all', 'all'),
('live_runs', 'all', 'all'),
-- Members of a map that go again leave history; `for update` asks for the right to update.
('runs', 'all', 'select, insert, update (dropped_at), delete'),
('attempts', 'all', 'select, insert'),
('run_logs', 'all', 'select, insert'),
('run_notes', 'all', 'select, insert, update'),
('replays', 'all', ''),
('graphs', 'all', 'select, insert'),
('graph_runs', 'all', 'select, insert, update'),
('graph_maps', 'all', 'select, insert, update'),
('graph_items', 'all', 'all'),
('step_marks', 'all', 'select, insert, delete'),
('event_types', 'all', 'select, insert, delete'),
('events', 'all', ''),
('event_keys', 'all', ''),
('event_piles', 'all', ''),
('event_members', 'all', ''),
('backfills', 'all', ''),
('backfill_runs', 'all', ''),
('sources', 'all', ''),
-- The cluster.
('sessions', 'all', 'select, insert, update'),
('shards', 'all', 'select'),
('tzdata', 'all', ''),
('zone_rules', 'all', ''),
-- Access. A sealed secret is read by workers only; nobody changes the audit log.
('api_keys', 'all', ''),
('logins', 'all', ''),
('hooks', 'all', ''),
('hook_deliveries', 'all', ''),
('idempotency', 'all', ''),
(
    'secrets',
    'select (tenant_id, name, version, updated_at), insert, update, delete',
    'select (tenant_id, name, version, key_id, ciphertext)'
),
('audit', 'select, insert', 'insert'),
-- What no day holds: pruned by name.
('runs_rest', 'select, update, delete', ''),
('attempts_rest', 'select, delete', ''),
('run_logs_rest', 'select, delete', ''),
('run_notes_rest', 'select, delete', ''),
('graph_runs_rest', 'select, delete', ''),
('graph_maps_rest', 'select, delete', ''),
('graph_items_rest', 'select, delete', ''),
('events_rest', 'select, update, delete', '');

-- Makes the partition of one day, and takes its rows out of the partition for the rest. False if it
-- is there. For logins that own nothing: it runs as the owner, and makes nothing else.
create function rota.make_partition(parent text, day date) returns boolean
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

-- Drops the partition of one day that is over.
create function rota.drop_partition(parent text, day date) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
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

-- Sums up block ranges of the indexes that the live feed reads by, which only an owner may do.
create function rota.summarize_ranges(most bigint) returns integer
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(sum(brin_summarize_range(i.indexrelid, range.first)), 0)::integer
    from pg_index as i
    inner join pg_class as c on i.indexrelid = c.oid
    inner join pg_am as a on c.relam = a.oid
    cross join
        lateral (
            select
                pg_relation_size(i.indrelid) / current_setting('block_size')::bigint / 64 as ranges
        ) as full_ones
    cross join
        lateral generate_series(
            greatest(0, (full_ones.ranges - most) * 64), (full_ones.ranges - 1) * 64, 64
        ) as range (first)
    where
        c.relnamespace = 'rota'::regnamespace
        and a.amname = 'brin'
        and c.relkind = 'i'
$$;

revoke execute on function rota.make_partition(text, date) from public;
revoke execute on function rota.drop_partition(text, date) from public;
revoke execute on function rota.summarize_ranges(bigint) from public;

-- Creates the group roles if this user may, and gives each exactly what rota.role_grants says.
-- Returns the statements that an administrator must run first; then it is to be called again. May
-- be called at any time, by the owner.
create function rota.grant_roles() returns setof text
language plpgsql
as $body$
declare
    role text;
    line record;
begin
    foreach role in array array['rota_api', 'rota_service', 'rota_worker'] loop
        begin
            if to_regrole(role) is null then
                execute format('create role %I nologin', role);
            end if;
        exception
            when duplicate_object or unique_violation then null;
            when insufficient_privilege then
                return next format('create role %s nologin;', role);
        end;
    end loop;
    -- An API steps down to rota_api for each request.
    if to_regrole('rota_api') is null or to_regrole('rota_service') is null then
        return next 'grant rota_api to rota_service;';
    elsif not pg_has_role('rota_service', 'rota_api', 'member') then
        begin
            grant rota_api to rota_service;
        exception
            when unique_violation then null;
            when insufficient_privilege then
                return next 'grant rota_api to rota_service;';
        end;
    end if;

    foreach role in array array['rota_service', 'rota_worker'] loop
        continue when to_regrole(role) is null;
        execute format('grant usage on schema rota to %I', role);
        if role = 'rota_service' then
            grant execute on function
            rota.make_partition(text, date),
            rota.drop_partition(text, date),
            rota.summarize_ranges(bigint)
            to rota_service;
        end if;
        for line in
            select
                g.relation,
                c.relrowsecurity as has_policies,
                case
                    when said.privileges = 'all' then 'select, insert, update, delete'
                    else said.privileges
                end as privileges
            from rota.role_grants as g
            cross join
                lateral (
                    select
                        case role
                            when 'rota_service' then g.service
                            else g.worker
                        end as privileges
                ) as said
            inner join pg_class as c
                on g.relation = c.relname and c.relnamespace = 'rota'::regnamespace
            order by g.relation
        loop
            execute format('revoke all on rota.%I from %I', line.relation, role);
            continue when line.privileges = '';
            execute format('grant %s on rota.%I to %I', line.privileges, line.relation, role);
            -- A constant costs nothing and bounds no plan: the planner drops it.
            if line.has_policies and not exists (
                select 1 from pg_policy
                where
                    polrelid = format('rota.%I', line.relation)::regclass
                    and polname = role || '_all_tenants'
            ) then
                execute format(
                    'create policy %I on rota.%I for all to %I using (true) with check (true)',
                    role || '_all_tenants', line.relation, role
                );
            end if;
        end loop;
    end loop;
end
$body$;

revoke execute on function rota.grant_roles() from public;

select rota.grant_roles();
