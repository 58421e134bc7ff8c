-- Keep which kinds can complete a run in its handler's transaction; only what changed is written.
update rota.kinds as k
set exactly_once = g.exactly_once
from unnest(:kinds::text[], :capable::boolean[]) as g (name, exactly_once)
where
    k.name = g.name
    and k.exactly_once is distinct from g.exactly_once
returning k.id;
