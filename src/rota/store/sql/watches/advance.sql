-- Move healthy watches to their next tick. The caller has locked them.
update rota.watches as w
set
    next_check_at = n.next_check_at,
    tick_at = n.tick_at,
    due_at = n.due_at
from
    unnest(
        :expectation_ids::uuid[],
        :subject_keys::text[],
        :next_check_ats::timestamptz[],
        :tick_ats::timestamptz[],
        :due_ats::timestamptz[]
    ) as n (expectation_id, subject_key, next_check_at, tick_at, due_at)
where
    w.expectation_id = n.expectation_id
    and w.subject_key = n.subject_key
returning w.expectation_id, w.subject_key;
