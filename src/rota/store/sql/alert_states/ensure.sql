-- Create the states of subjects that are violated for the first time.
insert into rota.alert_states (tenant_id, expectation_id, subject_key, job_id, since)
select
    n.tenant_id,
    n.expectation_id,
    n.subject_key,
    n.job_id,
    :now::timestamptz
from
    unnest(
        :tenant_ids::integer[],
        :expectation_ids::uuid[],
        :subject_keys::text[],
        :job_ids::uuid[]
    ) as n (tenant_id, expectation_id, subject_key, job_id)
order by n.expectation_id, n.subject_key
on conflict (expectation_id, subject_key) do nothing;
