-- Create a tenant for the benchmark, unless it exists.
insert into rota.tenants (name) values (:name::text)
on conflict (name) do nothing
returning id;
