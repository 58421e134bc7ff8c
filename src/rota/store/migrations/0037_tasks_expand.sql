-- Tasks: what a worker tells about each kind that it serves, beside the schema of its payload
-- (docs/adr/0048-tasks.md). `description` is the first paragraph of the handler's docstring.
-- `default_policy` holds the options declared on the handler, with the field names of the API.
alter table rota.kinds add column description text;
alter table rota.kinds add column default_policy jsonb;

insert into rota.role_grants (relation, service, worker) values
(
    'kinds', 'all',
    'select, insert (name, made_by), '
    'update (payload_schema, exactly_once, description, default_policy)'
)
on conflict (relation) do update
    set
        service = excluded.service,
        worker = excluded.worker;

select rota.grant_roles();
