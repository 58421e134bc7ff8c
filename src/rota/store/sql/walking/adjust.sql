-- Change settings until the end of the transaction, and tell what they were. The columns of a row
-- are made from left to right.
select
    s.name,
    current_setting(s.name) as before,
    set_config(s.name, s.value, true) as after
from unnest(:names::text[], :values::text[]) as s (name, value);
