-- Generated from src/rota/core/states.py by `make generate`. Do not edit.
-- Refuses every change of state that core does not know, even one typed into psql.

create or replace function rota.refuse_move() returns trigger
language plpgsql as $$
begin
    raise exception 'this change of state is not allowed'
        using errcode = 'RT001',
        detail = tg_argv[0] || ': ' || case
            when tg_op = 'UPDATE' then old.state::text
            when tg_argv[1] = 'left' then coalesce(to_jsonb(new) ->> 'left_state', 'nothing')
            else 'nothing'
        end || ' to ' || new.state::text;
end
$$;

create or replace trigger jobs_moves
before update of state on rota.jobs
for each row
when (
    old.state <> new.state
    and (old.state, new.state) not in (
        ('active', 'deleted'),
        ('active', 'finished'),
        ('active', 'paused'),
        ('active', 'quarantined'),
        ('finished', 'active'),
        ('finished', 'deleted'),
        ('paused', 'active'),
        ('paused', 'deleted'),
        ('paused', 'finished'),
        ('quarantined', 'active'),
        ('quarantined', 'deleted'),
        ('quarantined', 'paused')
    )
)
execute function rota.refuse_move('job');

create or replace trigger live_runs_moves
before update of state on rota.live_runs
for each row
when (
    old.state <> new.state
    and (old.state, new.state) not in (
        ('queued', 'running'),
        ('retrying', 'running'),
        ('blocked', 'queued'),
        ('running', 'blocked'),
        ('running', 'cancelling'),
        ('running', 'queued'),
        ('running', 'retrying')
    )
)
execute function rota.refuse_move('run');

create or replace trigger live_runs_births
before insert on rota.live_runs
for each row
when (
    new.state not in ('blocked', 'queued')
)
execute function rota.refuse_move('run');

create or replace trigger runs_moves
before insert on rota.runs
for each row
when (
    new.left_state is not null
    and (new.left_state, new.state) not in (
        ('running', 'succeeded'),
        ('blocked', 'cancelled'),
        ('blocked', 'dead'),
        ('blocked', 'expired'),
        ('blocked', 'skipped'),
        ('blocked', 'succeeded'),
        ('cancelling', 'cancelled'),
        ('queued', 'cancelled'),
        ('queued', 'expired'),
        ('queued', 'skipped'),
        ('retrying', 'cancelled'),
        ('retrying', 'expired'),
        ('running', 'cancelled'),
        ('running', 'dead'),
        ('running', 'expired'),
        ('running', 'lost'),
        ('running', 'quarantined')
    )
)
execute function rota.refuse_move('run', 'left');

create or replace trigger runs_births
before insert on rota.runs
for each row
when (
    new.left_state is null
    and new.state not in ('skipped', 'missed', 'coalesced')
)
execute function rota.refuse_move('run');

create or replace trigger runs_final
before update of state on rota.runs
for each row
when (
    old.state <> new.state
)
execute function rota.refuse_move('run');
