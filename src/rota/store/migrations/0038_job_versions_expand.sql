-- The definitions that a job had before the one it has (docs/adr/0045-definition-versions.md). A
-- run that carries no payload of its own used the definition in force at its `job_version`; a
-- finished run, its retry and its replay are told by it. Nothing is written for a run.
create table rota.job_versions (
    tenant_id integer not null,
    job_id uuid not null,
    -- It was in force from one value of jobs.version to another, both included.
    from_version integer not null,
    until_version integer not null,
    -- The version that people see.
    number integer not null,
    name text not null,
    payload jsonb,
    labels jsonb not null,
    graph_id integer,
    -- All of it, by the names of the API.
    definition jsonb not null,
    valid_from timestamptz not null,
    valid_until timestamptz not null,
    primary key (job_id, until_version)
);

-- For retention.
create index job_versions_until on rota.job_versions (valid_until);

-- The first value of `version` that had the definition of now; null means unknown. Version 1 of a
-- definition was in force from the beginning.
alter table rota.jobs add column defined_since integer;

-- Keeps the definition that an edit supersedes. A trigger, because processes of the previous
-- release edit jobs too. An edit changes name and labels after the rest, so `old` still has them.
create function rota.keep_definition() returns trigger
language plpgsql
as $$
declare
    number constant integer := old.version - old.version_skips;
    since constant integer := coalesce(
        old.defined_since, case when number = 1 then 1 else old.version end
    );
begin
    if new.version - new.version_skips = number then
        new.defined_since := since;
        return new;
    end if;
    new.defined_since := new.version;
    insert into rota.job_versions (
        tenant_id, job_id, from_version, until_version, number, name, payload, labels,
        graph_id, definition, valid_from, valid_until
    )
    select
        old.tenant_id,
        old.id,
        since,
        old.version,
        number,
        old.name,
        old.payload,
        old.labels,
        old.graph_id,
        coalesce(p.body, '{}')
        || (
            to_jsonb(old)
            - array[
                'id', 'tenant_id', 'state', 'version', 'version_skips', 'defined_since',
                'kind_id', 'queue_id', 'policy_id', 'graph_id', 'held', 'paused_stretches',
                'created_at', 'updated_at'
            ]
        )
        || jsonb_build_object('kind', k.name, 'queue', q.name, 'graph', g.definition),
        coalesce(
            (
                select max(v.valid_until) from rota.job_versions as v
                where v.job_id = old.id
            ),
            old.created_at
        ),
        rota.now()
    from (select 1) as one
    left join rota.policies as p on p.id = old.policy_id
    left join rota.kinds as k on k.id = old.kind_id
    left join rota.queues as q on q.id = old.queue_id
    left join rota.graphs as g on g.id = old.graph_id
    on conflict (job_id, until_version) do nothing;
    return new;
end
$$;

create trigger keep_definition
before update of version on rota.jobs
for each row
when (
    old.defined_since is null
    or new.version - new.version_skips <> old.version - old.version_skips
)
execute function rota.keep_definition();

-- The definition of a job that was in force at a value of its `version`; no row if that is unknown.
create function rota.definition_used(job uuid, job_version integer)
returns table (number integer, name text, payload jsonb, labels jsonb, graph_id integer)
language sql stable
as $$
    select v.number, v.name, v.payload, v.labels, v.graph_id
    from (
        select
            kept.number, kept.name, kept.payload, kept.labels, kept.graph_id, kept.from_version
        from rota.job_versions as kept
        where
            kept.job_id = job
            and kept.until_version >= job_version
        order by kept.until_version
        limit 1
    ) as v
    where v.from_version <= job_version
    union all
    select j.version - j.version_skips, j.name, j.payload, j.labels, j.graph_id
    from rota.jobs as j
    where
        j.id = job
        and job_version >= coalesce(
            j.defined_since, case when j.version - j.version_skips = 1 then 1 else j.version end
        )
    limit 1
$$;

insert into rota.role_grants (relation, service, worker) values
('job_versions', 'all', 'select, insert');

select rota.raise_wall();
select rota.grant_roles();
