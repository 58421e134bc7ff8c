-- Since when an interned row has no job and no unfinished run that uses it; null while one does.
-- It is deleted once that is longer ago than runs are kept (docs/adr/0050-retention.md).
alter table rota.kinds add column unused_since timestamptz;
alter table rota.queues add column unused_since timestamptz;
alter table rota.policies add column unused_since timestamptz;
alter table rota.schedules add column unused_since timestamptz;
alter table rota.graphs add column unused_since timestamptz;
alter table rota.gates add column unused_since timestamptz;

-- Keeps an interned row that is about to be used again; false if it was deleted meanwhile. As the
-- owner, because nobody else may update these tables. It locks the row, so a deletion comes before
-- it or not at all.
create function rota.keep_interned(relation text, wanted integer) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    case relation
        when 'kinds' then
            update rota.kinds set unused_since = null where id = wanted;
        when 'queues' then
            update rota.queues set unused_since = null where id = wanted;
        when 'policies' then
            update rota.policies set unused_since = null where id = wanted;
        when 'schedules' then
            update rota.schedules set unused_since = null where id = wanted;
        when 'graphs' then
            update rota.graphs set unused_since = null where id = wanted;
        when 'gates' then
            update rota.gates set unused_since = null where id = wanted;
        else raise exception 'rota.% has no interned rows', relation using errcode = '22023';
    end case;
    return found;
end
$$;
