-- Change settings until the end of the transaction, and return the previous values. The columns of
-- a row are evaluated from left to right.
select
    s.name,
    current_setting(s.name) as before,
    set_config(s.name, s.value, true) as after
from unnest(:names::text[], :values::text[]) as s (name, value);
