-- Delete watches. The caller has locked them.
delete from rota.watches as w
using unnest(:expectation_ids::uuid[], :subject_keys::text[]) as n (expectation_id, subject_key)
where
    w.expectation_id = n.expectation_id
    and w.subject_key = n.subject_key
returning w.expectation_id, w.subject_key;
