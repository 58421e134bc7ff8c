-- What the live feed reads by: which rows are new since it last looked.
--
-- Block range indexes, not trees: they keep the least and the greatest time of each half megabyte
-- of the table, and a row that is added to a range without a summary costs 0.08 µs instead of the
-- 2.5 µs of a tree. The feed only asks for the last seconds, so it reads the ranges that hold them
-- and those at the end that nobody has summed up yet.
create index runs_ended on rota.runs using brin (finished_at)
with (pages_per_range = 64);

create index attempts_ended on rota.attempts using brin (finished_at)
with (pages_per_range = 64);

create index jobs_changed on rota.jobs using brin (updated_at)
with (pages_per_range = 64);

-- The number of the transaction that wrote a row, with the upper half that the row leaves out:
-- the one that is nearest to `near`. Right for rows that are less than 2^31 transactions away.
create function rota.full_xid(seen xid, near bigint) returns bigint
language sql immutable parallel safe
as $$
    select
        near
        + ((seen::text::bigint - near) % 4294967296 + 4294967296 + 2147483648) % 4294967296
        - 2147483648
$$;
