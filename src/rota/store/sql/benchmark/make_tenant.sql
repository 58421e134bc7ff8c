-- A tenant for the benchmark, unless it is there.
insert into rota.tenants (name) values (:name::text)
on conflict (name) do nothing
returning id;
