-- What tells failures apart (docs/adr/0049-failure-groups.md): the type of an error, its message
-- without its numbers, and the innermost frame of the user's code. Failures without a frame keep
-- the fingerprint that rota.error_fingerprint gives them: those of other executors, and those that
-- earlier releases stored. Groups of dead letters, their list and what acts on them ask this
-- function.
create function rota.failure_fingerprint(reason jsonb) returns text
language sql immutable parallel safe
as $$
    select case
        when coalesce(reason ->> 'frame', '') = '' then rota.error_fingerprint(reason)
        else lpad(to_hex(hashtextextended(
            rota.error_fingerprint(reason) || e'\n' || (reason ->> 'frame'), 0
        )), 16, '0')
    end
$$;
