-- Change the name, labels, user and details of a job. The caller has locked it.
update rota.jobs as j
set
    name = coalesce(:name::text, j.name),
    labels = coalesce(:labels::jsonb, j.labels),
    user_id = case when :sets_user::boolean then :user_id::text else j.user_id end
    /* each detail: ,
    {name} = case when :sets_{name}::boolean then :{name}::{type} else j.{name} end */
where j.id = :id::uuid
returning j.id;
