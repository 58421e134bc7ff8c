-- Who may do what: keys of the platform, calendars, an audit log that only grows, and a second wall
-- between the tenants.

alter table rota.api_keys drop constraint api_keys_role_check;
alter table rota.api_keys add constraint api_keys_role_check
check (role in ('viewer', 'operator', 'admin', 'platform'));
-- The part of the key's text that lists show. Nobody has written a key before this.
alter table rota.api_keys add column handle text not null check (length(handle) = 8);

create index api_keys_tenant on rota.api_keys (tenant_id, id);
create index api_keys_platform on rota.api_keys (id) where role = 'platform';

create table rota.calendars (
    tenant_id integer not null references rota.tenants (id),
    name text not null check (length(name) between 1 and 200),
    body jsonb not null,
    version integer not null default 1 check (version > 0),
    updated_at timestamptz not null default rota.now(),
    primary key (tenant_id, name)
);

alter table rota.audit add column key_id uuid;
create index audit_page on rota.audit (tenant_id, id);

-- Not even the owner changes what was written down; a mistake in a statement must not either.
create function rota.refuse_rewriting() returns trigger
language plpgsql
as $$
begin
    raise exception 'rota.% is only ever added to', tg_table_name using errcode = 'RT002';
end
$$;

create trigger audit_only_grows
before update or delete or truncate on rota.audit
for each statement execute function rota.refuse_rewriting();

-- Whether a run is one that the role behind the wall sees. A function with a body of its own: as
-- part of a policy, the planner could answer it by reading all runs.
create function rota.is_visible_run(wanted uuid) returns boolean
language plpgsql stable
as $$
begin
    return exists (select 1 from rota.live_runs as r where r.id = wanted)
        or exists (select 1 from rota.runs as r where r.id = wanted);
end
$$;

-- Builds the wall, or completes it: row level security on every table that has a tenant, and what
-- the role of the API may do. The owner of the tables passes it, so the engine is not concerned. A
-- later migration that adds a table with a tenant_id ends with `select rota.raise_wall()`.
create function rota.raise_wall() returns void
language plpgsql
as $body$
declare
    walled record;
    ours constant text := $$= nullif(current_setting('rota.tenant', true), '')::integer$$;
    whose text;
begin
    if not exists (select 1 from pg_roles where rolname = 'rota_api') then
        raise notice 'there is no role rota_api, so the wall between tenants is not there';
        return;
    end if;
    grant usage on schema rota to rota_api;
    -- Names and bodies that all tenants share, and what the cluster is doing.
    grant select, insert on rota.queues, rota.kinds, rota.policies, rota.schedules to rota_api;
    grant select on rota.sessions, rota.shards, rota.ended_jobs to rota_api;

    for walled in
        select
            c.oid::regclass as name,
            c.relname,
            c.relrowsecurity as is_walled,
            a.attname as has_tenant
        from pg_class as c
        left join pg_attribute as a
            on c.oid = a.attrelid and a.attname = 'tenant_id' and not a.attisdropped
        where
            c.relnamespace = 'rota'::regnamespace
            and c.relkind in ('r', 'p')
            and not c.relispartition
            and (
                a.attname is not null
                or c.relname in ('tenants', 'attempts', 'run_logs', 'run_notes')
            )
    loop
        case
            when walled.relname = 'tenants' then
                whose := 'id ' || ours;
                execute format('grant select on %s to rota_api', walled.name);
            when walled.has_tenant is null then
                whose := 'rota.is_visible_run(run_id)';
                execute format('grant select, insert on %s to rota_api', walled.name);
                if walled.relname = 'attempts' then
                    -- Who let a run go again is signed there.
                    grant update (reason) on rota.attempts to rota_api;
                end if;
            when walled.relname = 'audit' then
                whose := 'tenant_id ' || ours;
                execute format('grant select, insert on %s to rota_api', walled.name);
            when walled.relname = 'api_keys' then
                -- Keys are found by their digest before anybody knows the tenant, by the owner.
                -- Keys of the platform are out of sight here, and cannot be made or revoked.
                whose := $$role <> 'platform' and tenant_id $$ || ours;
                grant insert, update (revoked_at, used_at) on rota.api_keys to rota_api;
                grant select (
                    id, tenant_id, name, handle, role, user_id, created_at, expires_at,
                    revoked_at, used_at
                ) on rota.api_keys to rota_api;
            when walled.relname = 'secrets' then
                -- Written and never read: only a worker opens one.
                whose := 'tenant_id ' || ours;
                grant insert, update, delete on rota.secrets to rota_api;
                grant select (tenant_id, name, version, updated_at) on rota.secrets to rota_api;
            else
                whose := 'tenant_id ' || ours;
                execute format(
                    'grant select, insert, update, delete on %s to rota_api', walled.name
                );
        end case;
        if not walled.is_walled then
            execute format('alter table %s enable row level security', walled.name);
        end if;
        if not exists (
            select 1 from pg_policy
            where polrelid = walled.name and polname = 'tenant_wall'
        ) then
            execute format(
                'create policy tenant_wall on %s for all to rota_api using (%s) with check (%s)',
                walled.name, whose, whose
            );
        end if;
    end loop;
    -- Gates of queues belong to no tenant (0): everybody may see what holds a run back.
    if not exists (
        select 1 from pg_policy
        where polrelid = 'rota.gates'::regclass and polname = 'queue_gates'
    ) then
        create policy queue_gates on rota.gates for select to rota_api using (tenant_id = 0);
    end if;
end
$body$;

-- Roles belong to the whole server: another database may have made it, and this user may not be
-- allowed to. Then the API refuses to start, and says what an administrator must do.
do $$
begin
    if not exists (select 1 from pg_roles where rolname = 'rota_api') then
        create role rota_api nologin;
    end if;
exception
    when duplicate_object or unique_violation then null;
    when insufficient_privilege then
        raise notice 'this user may not create the role rota_api';
end
$$;

do $$
begin
    if
        exists (select 1 from pg_roles where rolname = 'rota_api')
        and not (select rolsuper from pg_roles where rolname = current_user)
    then
        execute format('grant rota_api to %I', current_user);
    end if;
exception
    when unique_violation then null;
    when insufficient_privilege then
        raise notice 'this user may not become rota_api';
end
$$;

select rota.raise_wall();
