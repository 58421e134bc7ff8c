-- Give all jobs of a kind these expectations, or none.
with changed as (
    update rota.jobs as j
    set
        expect = :expect::jsonb,
        alert = :alert::jsonb,
        updated_at = rota.now()
    where j.kind_id = :kind_id::integer
    returning j.id
)

select count(c.id) as jobs from changed as c;
