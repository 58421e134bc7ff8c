-- A job that describe.sql would change. The caller has locked it.
select j.id
from rota.jobs as j
where
    j.id = :id::uuid
    and (
        j.name <> coalesce(:name::text, j.name)
        or j.labels <> coalesce(:labels::jsonb, j.labels)
        or (:sets_user::boolean and j.user_id is distinct from :user_id::text)
        /* each detail:  or
        (:sets_{name}::boolean and j.{name} is distinct from :{name}::{type}) */
    );
