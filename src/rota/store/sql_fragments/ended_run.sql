-- Moves a live run to history. A new column of rota.live_runs and rota.runs is one line here.
-- A region may leave out columns (`without`) and give others a different value.
insert into rota.runs (
    {columns}
)
select
    {row}.id,
    {row}.job_id,
    {row}.session_id,
    {row}.scheduled_at,
    {row}.due_at,
    {row}.created_at,
    {row}.started_at,
    rota.now() as finished_at,
    {row}.tenant_id,
    {row}.queue_id,
    {row}.kind_id,
    {row}.policy_id,
    {row}.job_version,
    {row}.final as state,
    {row}.state as left_state,
    {row}.trigger,
    {row}.priority,
    {row}.attempt,
    {row}.failures,
    {row}.losses,
    {row}.payload,
    {row}.result,
    {row}.reason,
    {row}.gates,
    {row}.graph_run_id,
    {row}.step,
    {row}.member,
    {row}.name,
    {row}.labels,
    {row}.user_id,
    {row}.submitter,
    {row}.address
