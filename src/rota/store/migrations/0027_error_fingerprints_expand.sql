-- What tells failures apart: the type of an error and its message without its numbers. Runs of
-- digits and words of hexadecimal digits count as one sign, so "port 8080 is not open" and "port
-- 80 is not open" are alike. Groups of dead letters and the filter that acts on a group both ask
-- this function.
create function rota.error_fingerprint(reason jsonb) returns text
language sql immutable parallel safe
as $$
    select lpad(to_hex(hashtextextended(
        coalesce(reason ->> 'type', reason ->> 'code', '')
        || e'\n'
        || regexp_replace(
            left(coalesce(reason ->> 'message', ''), 300),
            '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
            || '|\m0x[0-9a-f]+|\m[0-9a-f]{8,}\M|\m[0-9a-f]*[0-9][0-9a-f]*\M|[0-9]+',
            '#',
            'gi'
        ),
        0
    )), 16, '0')
$$;
