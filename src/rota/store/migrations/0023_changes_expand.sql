-- When a run that has not ended changed last, where no other column tells: a retry, a hand-back, a
-- worker that was lost, a request to cancel, a dead letter that goes again. Null until then. Claims
-- and completions do not write it; their own times say as much (docs/adr/0035-exactly-once.md).
alter table rota.live_runs add column changed_at timestamptz;

-- Whether handlers of a kind can complete their run in their own transaction; null until a worker
-- that serves the kind has said so.
alter table rota.kinds add column exactly_once boolean;
