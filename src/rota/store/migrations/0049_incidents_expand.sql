-- Incidents and the messages about them (docs/adr/0056-incidents-and-messages.md). Evaluations
-- report findings; rota.alert_states has what is known about each subject of each expectation, and
-- opens and ends incidents. Groups of incidents become notifications, one row per message and
-- channel. Rows about the installation have tenant 0, which row-level security shows to no tenant.

create table rota.alert_states (
    tenant_id integer not null,
    expectation_id uuid not null,
    subject_key text not null check (length(subject_key) <= 600),
    state text not null default 'idle' check (state in ('idle', 'pending', 'firing')),
    since timestamptz not null,
    job_id uuid,
    -- The run that the last violation is about.
    run_id uuid,
    incident_id uuid,
    opened integer not null default 0,
    met_in_row smallint not null default 0,
    changes timestamptz[] not null default '{}',
    is_flapping boolean not null default false,
    is_met boolean not null default false,
    -- When a pending violation opens an incident, or a flapping one is steady.
    next_at timestamptz,
    finding jsonb not null default '{}',
    primary key (expectation_id, subject_key)
) with (fillfactor = 70);
create index alert_states_next on rota.alert_states (next_at) where next_at is not null;
create index alert_states_incident on rota.alert_states (incident_id)
where incident_id is not null;
create index alert_states_run on rota.alert_states (run_id)
where state = 'firing' and run_id is not null;
comment on table rota.alert_states is
'Per expectation and subject: whether the expectation is violated, and which incident says so.';
comment on column rota.alert_states.subject_key is 'Kind and id of the subject: job:<hex id>.';
comment on column rota.alert_states.state is
'idle: met. pending: violated, not yet for long enough. firing: part of an open incident.';
comment on column rota.alert_states.since is 'When the state began.';
comment on column rota.alert_states.opened is 'How many times the violation opened an incident.';
comment on column rota.alert_states.met_in_row is
'How many times in a row the expectation was met since the last violation.';
comment on column rota.alert_states.changes is
'When incidents opened and ended within the last hour; many mean flapping.';
comment on column rota.alert_states.is_met is
'While flapping: whether the expectation was met at the last evaluation.';
comment on column rota.alert_states.finding is 'The last violation: title, facts, policy, subject.';

create table rota.incidents (
    id uuid primary key,
    tenant_id integer not null,
    state text not null check (state in ('open', 'acknowledged', 'resolved')),
    severity text not null check (severity in ('info', 'warning', 'page')),
    title text not null,
    condition text not null,
    expectation_id uuid not null,
    expectation_name text not null,
    subject_kind text not null,
    subject_id text not null,
    subject_name text not null,
    job_id uuid,
    queue text,
    task text,
    labels jsonb not null default '{}',
    run_id uuid,
    facts jsonb not null default '{}',
    count bigint not null default 1,
    opened_at timestamptz not null,
    last_seen_at timestamptz not null,
    acknowledged_at timestamptz,
    acknowledged_by text,
    resolved_at timestamptz,
    resolved_by text,
    resolution text,
    is_flapping boolean not null default false,
    inhibited_by text,
    silence_id uuid,
    silenced_until timestamptz,
    group_id uuid not null,
    -- What the group's messages said: when they first named or counted the incident, with which
    -- severity, whether they said that it flaps and that it ended.
    announced_at timestamptz,
    announced_severity text,
    announced_flapping boolean not null default false,
    announced_end boolean not null default false
) with (fillfactor = 70);
create index incidents_recent on rota.incidents (tenant_id, opened_at desc, id desc);
create index incidents_open on rota.incidents (tenant_id, opened_at desc, id desc)
where state <> 'resolved';
create index incidents_open_job on rota.incidents (job_id)
where state <> 'resolved' and job_id is not null;
create index incidents_job on rota.incidents (job_id, opened_at desc) where job_id is not null;
create index incidents_group on rota.incidents (group_id)
where state <> 'resolved' or (announced_at is not null and not announced_end);
create index incidents_resolved on rota.incidents (resolved_at) where state = 'resolved';
comment on table rota.incidents is
'What is or was wrong: violated expectations of one subject, from the first to the last finding.';
comment on column rota.incidents.tenant_id is '0: the installation itself.';
comment on column rota.incidents.expectation_id is 'The worst of the violated expectations.';
comment on column rota.incidents.count is 'How many bad runs the incident stands for.';
comment on column rota.incidents.resolution is 'Why the incident ended.';
comment on column rota.incidents.inhibited_by is
'Code of the cause that explains the incident; while set, no message names it.';
comment on column rota.incidents.silenced_until is
'Until when a silence holds messages back; the incident stays visible.';
comment on column rota.incidents.announced_at is 'When a message first named or counted it.';

create table rota.incident_events (
    id bigint generated always as identity primary key,
    tenant_id integer not null,
    incident_id uuid not null,
    at timestamptz not null default rota.now(),
    type text not null check (length(type) between 1 and 50),
    by text,
    text text,
    details jsonb not null default '{}'
);
create index incident_events_incident on rota.incident_events (incident_id, id);
create index incident_events_at on rota.incident_events (at, id);
comment on table rota.incident_events is
'The thread of each incident: opened, updated, acknowledged, note, silenced, resolved. Only ever
added to. The event relay reads it.';
comment on column rota.incident_events.by is 'Name of the key or person; null: Rota itself.';
comment on column rota.incident_events.details is 'The fields of the incident at that time.';

create table rota.alert_groups (
    id uuid primary key,
    tenant_id integer not null,
    -- Empty: the default channels.
    route text not null,
    expectation_id uuid not null,
    expectation_name text not null,
    recovery boolean not null default true,
    -- Rises when a group without open incidents gets one again.
    episode integer not null default 0,
    began_at timestamptz,
    last_message_at timestamptz,
    messages integer not null default 0,
    steps jsonb not null default '[]',
    next_at timestamptz,
    changed_at timestamptz not null
) with (fillfactor = 70);
create index alert_groups_next on rota.alert_groups (next_at) where next_at is not null;
create index alert_groups_changed on rota.alert_groups (changed_at) where next_at is null;
comment on table rota.alert_groups is
'Incidents of one tenant, route and expectation, which share messages.';
comment on column rota.alert_groups.recovery is 'Whether a message says that incidents ended.';
comment on column rota.alert_groups.began_at is
'When the current episode began; null: the group has no open incident.';
comment on column rota.alert_groups.messages is 'Number of messages of the current episode.';
comment on column rota.alert_groups.steps is
'Per step of the route: when it got its first and its last message.';
comment on column rota.alert_groups.next_at is
'When a process must look at the group; null: nothing to send.';

create table rota.notifications (
    id uuid primary key,
    tenant_id integer not null,
    group_id uuid,
    episode integer not null default 0,
    channel text not null,
    kind text not null,
    severity text not null,
    state text not null default 'pending'
    check (state in ('pending', 'sending', 'sent', 'failed', 'suppressed', 'digested')),
    dedup_key text not null,
    content jsonb not null,
    incident_ids uuid[] not null default '{}',
    incident_count integer not null default 0,
    created_at timestamptz not null,
    next_at timestamptz,
    lease_until timestamptz,
    attempts integer not null default 0,
    sent_at timestamptz,
    error text,
    -- The digest that counts this message instead.
    digest_id uuid
) with (fillfactor = 70);
create index notifications_waiting on rota.notifications (channel, next_at)
where state in ('pending', 'sending');
create index notifications_recent on rota.notifications (tenant_id, created_at desc, id desc);
create index notifications_created on rota.notifications (created_at);
create index notifications_group on rota.notifications (group_id, episode);
create index notifications_thread on rota.notifications (channel, dedup_key);
comment on table rota.notifications is
'Messages about incidents: exactly one row per message and channel, whatever number of processes
plans it. The id is derived, and receivers get it as an idempotency key.';
comment on column rota.notifications.state is
'sending: a process sends it until lease_until. digested: a digest counts it instead.
suppressed: not sent, and error says why.';
comment on column rota.notifications.dedup_key is
'Equal for all messages of one episode of a group.';
comment on column rota.notifications.content is 'The message without secrets: title and items.';
comment on column rota.notifications.attempts is
'Number of attempts; a sender with an older number records nothing.';

create table rota.silences (
    id uuid primary key,
    tenant_id integer not null,
    match jsonb not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    calendar text,
    reason text not null check (length(reason) between 1 and 1000),
    created_by text not null,
    created_at timestamptz not null default rota.now(),
    ended_by text,
    check (ends_at >= starts_at)
);
create index silences_tenant on rota.silences (tenant_id, ends_at);
create index silences_end on rota.silences (ends_at);
comment on table rota.silences is
'Times in which messages about matching incidents are held back; checks go on.';
comment on column rota.silences.match is 'Job, step, task, queue and labels that must match.';
comment on column rota.silences.calendar is
'If set, the silence holds only on the days of this calendar.';

create table rota.alert_channels (
    name text primary key check (length(name) between 1 and 200),
    kind text not null,
    tenants text[] not null,
    is_default boolean not null default false,
    recovery boolean not null default true,
    minimum_severity text not null default 'info',
    messages_per_hour integer not null default 30,
    pages_per_hour integer not null default 10,
    reported_at timestamptz not null,
    -- Pace of the channel: when messages, pages beyond the limit and digests were sent.
    sent_times timestamptz[] not null default '{}',
    page_times timestamptz[] not null default '{}',
    digest_at timestamptz,
    last_sent_at timestamptz,
    failing_since timestamptz,
    failures integer not null default 0,
    last_error text
) with (fillfactor = 70);
comment on table rota.alert_channels is
'Channels that processes reported: names and health, never addresses.';
comment on column rota.alert_channels.tenants is 'Names of tenants that may use it; *: all.';
comment on column rota.alert_channels.is_default is
'Gets messages of expectations that name no route.';
comment on column rota.alert_channels.recovery is 'Whether it gets messages about ended incidents.';
comment on column rota.alert_channels.messages_per_hour is
'Messages beyond this number are counted in a digest.';
comment on column rota.alert_channels.pages_per_hour is
'Further messages, reserved for severity page.';
comment on column rota.alert_channels.failures is 'Failed attempts since the last sent message.';

insert into rota.role_grants (relation, service, worker) values
('alert_states', 'all', ''),
('incidents', 'all', ''),
('incident_events', 'all', ''),
('alert_groups', 'all', ''),
('notifications', 'all', ''),
('silences', 'all', ''),
('alert_channels', 'all', '');

-- As before, and channels.
create or replace function rota.raise_wall() returns void
language plpgsql
as $_$
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
                    -- Who requeued a run is signed there.
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
    -- A tenant sees the channels that it may use.
    grant select on rota.alert_channels to rota_api;
    alter table rota.alert_channels enable row level security;
    if not exists (
        select 1 from pg_policy
        where polrelid = 'rota.alert_channels'::regclass and polname = 'channel_tenants'
    ) then
        execute
            'create policy channel_tenants on rota.alert_channels for select to rota_api using ('
            || $$'*' = any(tenants) or exists ($$
            || $$select 1 from rota.tenants as t where t.name = any(tenants) and t.id $$
            || ours || '))';
    end if;
end
$_$;

select rota.raise_wall();
select rota.grant_roles();
