-- Describes the tables from h to z, for psql and for store/schema.sql.

comment on table rota.hook_deliveries is
'Accepted signatures of webhooks whose senders sign no time: protects against replayed '
'requests.';

comment on table rota.hooks is 'Webhook endpoints that accept signed events without an API key.';
comment on column rota.hooks.style is 'Signature scheme.';
comment on column rota.hooks.ciphertext is
'The signing secret, encrypted with the master key `key_id`.';
comment on column rota.hooks.former is 'The previous secret, valid until `former_until`.';

comment on table rota.idempotency is
'Responses to requests with an idempotency key; a repeated request gets the stored '
'response.';
comment on column rota.idempotency.scope is 'The operation that the key belongs to.';
comment on column rota.idempotency.fingerprint is
'Hash of the request: a key that comes with another request is refused.';
comment on column rota.idempotency.status is 'Null while the first request is in progress.';

comment on table rota.job_versions is
'Definitions that an edit replaced, so that every run can show what it ran with. A '
'trigger on jobs writes them.';
comment on column rota.job_versions.number is 'Version number as people see it.';

comment on table rota.jobs is 'Job definitions.';
comment on column rota.jobs.version is
'Rises with every change; firing with an older version changes nothing.';
comment on column rota.jobs.version_skips is
'How often `version` rose without a change of the definition; people see the difference '
'of both.';
comment on column rota.jobs.defined_since is '`version` at the last change of the definition.';
comment on column rota.jobs.schedule is 'Null for a job that runs on request or on events.';
comment on column rota.jobs.held is
'Why the job is paused or quarantined: {by, at, reason, until}.';
comment on column rota.jobs.limits is
'Limits as declared; their keys contain placeholders that a run fills in.';
comment on column rota.jobs.keep_first is
'For overlap queue_one: keep the first waiting tick instead of the latest.';
comment on column rota.jobs.paused_stretches is
'Schedules that edits replaced while the job was paused, and how far each was decided.';

comment on table rota.kinds is
'Tasks: the kinds of work that workers serve, with what a worker declared about them.';
comment on column rota.kinds.payload_schema is
'JSON Schema of the payload, if a worker declared one.';
comment on column rota.kinds.exactly_once is
'Whether its handlers can complete a run in their own transaction; null until a worker '
'declared it.';
comment on column rota.kinds.made_by is
'The tenant whose submission created the name; null for names declared by workers.';
comment on column rota.kinds.default_policy is 'Policy that the code declares for the task.';

comment on table rota.live_runs is
'Unfinished runs: waiting, running, cancelling. The hot table; a run moves to runs when '
'it finishes.';
comment on column rota.live_runs.job_id is 'The job, or the id of the submission itself.';
comment on column rota.live_runs.session_id is
'The worker session that holds the run; set exactly while it is running or cancelling.';
comment on column rota.live_runs.scheduled_at is 'Nominal time.';
comment on column rota.live_runs.due_at is 'Time due, after jitter.';
comment on column rota.live_runs.ready_at is
'From when a worker may claim it: due time, end of a retry delay, or time of insertion if '
'that was later. Claims scan by it.';
comment on column rota.live_runs.attempt is
'Rises with every claim and fences late workers: a result with a smaller attempt is '
'refused.';
comment on column rota.live_runs.failures is 'Attempts that count towards the retries.';
comment on column rota.live_runs.losses is 'Attempts lost with their worker.';
comment on column rota.live_runs.payload is 'Null: the payload of the job at `job_version`.';
comment on column rota.live_runs.gates is
'Gates that the run passes, the narrowest first; null for none.';
comment on column rota.live_runs.graph_run_id is 'The graph run that this run is a step of.';
comment on column rota.live_runs.step is 'Number of the step in its graph.';
comment on column rota.live_runs.member is 'Number of the member of a map step.';
comment on column rota.live_runs.changed_at is
'Last change that no other column shows: retry, release, lost worker, cancel request, '
'requeue.';
comment on column rota.live_runs.submitter is 'Who submitted it; null for runs of a job.';
comment on column rota.live_runs.address is 'Client address of the submitter.';

comment on table rota.logins is
'Dashboard sessions and one-time login tickets. No tenant_id: a login is found before its '
'tenant is known.';
comment on column rota.logins.is_ticket is
'A ticket is valid for one login within a minute; `rota open` puts it into a link.';

comment on table rota.migrations is 'Applied migrations.';

comment on table rota.policies is
'Policies (retries, timeouts, …), shared by all rows that use the same one. A row never '
'changes.';

comment on table rota.queues is 'Queues. A pause or limit here applies to all tenants.';
comment on column rota.queues.gate_id is 'The limit that all runs of the queue pass.';
comment on column rota.queues.made_by is
'The tenant whose submission created the name; null for names declared by workers.';

comment on table rota.replays is 'Runs that were created from a finished run.';
comment on column rota.replays.replay_of is 'The finished run.';

comment on table rota.role_grants is
'What the database roles of services (API, scheduler) and workers may do with each table, '
'in the words of GRANT.';

comment on table rota.run_logs is
'Captured output of attempts. One partition per day, by the time in the run id.';
comment on column rota.run_logs.seq is 'Position in the output of the attempt.';

comment on table rota.run_notes is
'Checkpoints: the last progress and the last checkpoint of an attempt. A later attempt '
'continues from it.';

comment on table rota.runs is
'Finished runs, and ticks that did not become a run. Rows are only added. One partition '
'per day, by the time in the id.';
comment on column rota.runs.left_state is
'State before the final one; null for a tick that never became a run.';
comment on column rota.runs.reason is
'{type, message, …} of the last failure, or {code, …} of why the tick did not run.';
comment on column rota.runs.dropped_at is 'When a person dropped the dead letter from the list.';

comment on table rota.scheduled_runs is
'Submissions that are due later. The scheduler that holds the shard moves each row to '
'live_runs when it is due.';
comment on column rota.scheduled_runs.job_id is
'Set only for one-time jobs of an earlier release, whose job id and run id differ.';
comment on column rota.scheduled_runs.deadline is
'Deadline of the run, counted from its due time. Null: none.';

comment on table rota.schedules is
'Schedules, shared by all cursors that use the same one. A row never changes.';

comment on table rota.secrets is 'Secrets of tenants, encrypted with the master key `key_id`.';

comment on table rota.sessions is
'Processes: one row per start of a worker, scheduler or API, kept alive by heartbeats.';
comment on column rota.sessions.running is
'Runs that the process really executes, as of its last heartbeat.';
comment on column rota.sessions.draining is 'The process finishes its runs and takes no new ones.';
comment on column rota.sessions.beat_at is 'Time of the last heartbeat.';
comment on column rota.sessions.expires_at is 'End of the lease.';
comment on column rota.sessions.serves is
'Tenants whose runs a worker takes: {"tenants": [names], "queues": {queue id: [names]}}; '
'`*` is every tenant.';

comment on table rota.shards is
'The 128 shards of the schedule and which scheduler holds each by lease.';
comment on column rota.shards.owner is 'Session of the scheduler.';
comment on column rota.shards.epoch is
'Rises when the owner changes; firing with an older epoch changes nothing.';

comment on table rota.sources is
'Event sources: which process reads each, how far it got, and its last error.';
comment on column rota.sources.reader is 'Name of the reading process, for people.';
comment on column rota.sources.epoch is
'Rises when the owner changes; a reader with an older epoch writes nothing.';
comment on column rota.sources.taken is 'Events accepted so far.';
comment on column rota.sources.refused is 'Events refused so far.';
comment on column rota.sources.read_at is 'When the source last responded.';
comment on column rota.sources.taken_at is 'When the source last delivered an event.';

comment on table rota.step_marks is
'Step completions: the statement that ends a step run inserts one, and the transaction '
'that advances the graph run deletes it. So a wake-up cannot be lost.';
comment on column rota.step_marks.step is
'Number of the step. -1: the graph run itself was ended, cancel its steps. -2: advance '
'the graph run, because it has just been expanded or resumed.';
comment on column rota.step_marks.ended is 'How many runs of the step ended.';
comment on column rota.step_marks.members is 'How many of them are members of a map.';
comment on column rota.step_marks.run_id is 'One of the runs, to read its result or error from.';

comment on table rota.tenant_queues is
'Queues of a tenant. A pause or limit here applies to this tenant only.';

comment on table rota.tenants is 'Tenants.';
comment on column rota.tenants.weight is
'Share of the tenant when several wait for the same workers.';
comment on column rota.tenants.gate_id is 'The limit that all runs of the tenant pass.';
comment on column rota.tenants.default_quotas is
'Default quotas that are nearly used up, so that each submission must be counted. '
'Maintenance writes them.';
comment on column rota.tenants.measured_at is 'When usage was last measured.';

comment on table rota.tzdata is
'One row: the time zone database that future ticks were computed with.';
comment on column rota.tzdata.target is 'The version that is being applied, if any.';
comment on column rota.tzdata.looked_at is 'How far the update has come.';
comment on column rota.tzdata.older_seen_at is 'When a process with older rules was last seen.';

comment on table rota.unique_keys is 'Which job or run holds a unique key.';
comment on column rota.unique_keys.digest is 'Hash of the key.';
comment on column rota.unique_keys.run_id is 'Null while the holder is a job without a run.';
comment on column rota.unique_keys.held_until is 'The key is held at least until then.';

comment on table rota.zone_rules is
'Rules of each time zone (TZif) in that version, and in the previous one where they '
'differ.';
