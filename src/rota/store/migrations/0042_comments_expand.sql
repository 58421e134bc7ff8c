-- Describes types and functions, and the tables from a to g, for psql and for store/schema.sql.

comment on type rota.backfill_state is 'State of a backfill.';
comment on type rota.guarantee is
'Delivery guarantee of a run. at_least_once: a run whose worker was lost is tried again. '
'at_most_once: it is recorded as lost instead. exactly_once: the handler completes the '
'run in its own transaction.';
comment on type rota.job_state is 'State of a job definition.';
comment on type rota.overlap is
'What a tick does when an earlier run of the same job is still active.';
comment on type rota.run_state is
'State of a run. blocked, queued, retrying, running and cancelling are unfinished (table '
'live_runs); the others are final (table runs).';
comment on type rota.run_trigger is 'What created a run.';
comment on type rota.session_role is 'What kind of process a session belongs to.';
comment on type rota.when_queue_paused is
'What happens to ticks while the queue of their job is paused.';

comment on function rota.definition_used(uuid, integer) is
'The definition that a run of this job version used.';
comment on function rota.drop_audit_month(date) is 'Drops the audit log of the month of a day.';
comment on function rota.drop_partition(text, date) is 'Drops the partition of a day that is over.';
comment on function rota.error_fingerprint(jsonb) is
'Groups failures by type and message without numbers. Replaced by failure_fingerprint.';
comment on function rota.failure_fingerprint(jsonb) is
'Groups failures: equal for failures of the same cause.';
comment on function rota.full_xid(xid, bigint) is
'Extends a 32-bit transaction id to 64 bits, nearest to `near`.';
comment on function rota.grant_roles() is
'Grants what role_grants lists. Returns the statements that an administrator must run '
'first.';
comment on function rota.is_visible_run(uuid) is 'Whether the current tenant may see a run.';
comment on function rota.keep_definition() is
'Trigger: keeps the definition that an edit replaces in job_versions.';
comment on function rota.keep_event_types() is 'Trigger: maintains event_types.';
comment on function rota.keep_interned(text, integer) is
'Marks a shared row as used again, so that retention keeps it.';
comment on function rota.make_audit_month(date) is
'Creates the audit table of the month of a day. False if it exists.';
comment on function rota.make_partition(text, date) is
'Creates the partition of a day. False if it exists.';
comment on function rota.now() is 'The current time. Tests replace it to move the clock.';
comment on function rota.raise_wall() is
'Enables row-level security on every table with a tenant_id.';
comment on function rota.refuse_rewriting() is 'Trigger: refuses changes of the audit log.';
comment on function rota.route_audit() is
'Trigger: inserts an audit entry into the table of its month.';
comment on function rota.serves_tenant(jsonb, integer, text) is
'Whether a worker session takes runs of a tenant from a queue.';
comment on function rota.shown_state(rota.jobs) is 'State of a job as users see it.';
comment on function rota.start_lag(
    rota.run_trigger,
    smallint,
    timestamp with time zone,
    timestamp with time zone,
    timestamp with time zone
) is
'How late a run started. Null for a run without lag. All lag figures use this function.';
comment on function rota.summarize_ranges(bigint) is
'Summarises block ranges of the indexes that the live feed reads.';

comment on table rota.api_keys is
'API keys. Only the SHA-256 digest of a key is stored; a key is 256 random bits, so a '
'fast hash is enough.';
comment on column rota.api_keys.digest is 'SHA-256 of the key.';
comment on column rota.api_keys.handle is
'The first characters of the key, shown in lists so that people can tell keys apart.';
comment on column rota.api_keys.role is 'viewer, operator, admin or platform.';
comment on column rota.api_keys.user_id is
'The user that the key belongs to, as the caller named it.';

comment on table rota.attempts is
'Attempts that did not finish their run: failed, timed out, lost, snoozed or released. '
'The last attempt of a run is described by the run itself. One partition per day, by the '
'time in the run id.';
comment on column rota.attempts.reason is 'The failure: type, message, frame and traceback.';

comment on table rota.audit is
'Audit log: who changed what, and when. Rows are only added; retention drops whole '
'months.';
comment on column rota.audit.thing is 'Type of the object that was changed, such as job or key.';
comment on column rota.audit.origin is
'How the change was made: code, file, dashboard, command line or API.';
comment on column rota.audit.source is 'Client address of the request.';

comment on table rota.backfill_runs is
'Runs of a backfill that were not yet seen to finish; a window of bounded size.';

comment on table rota.backfills is
'Backfills: runs for a range of past ticks, created in small steps. A job has at most one '
'active backfill.';
comment on column rota.backfills.schedule is
'The schedule that the job had when the backfill was requested.';
comment on column rota.backfills.picks is 'Which ticks get a run: missing, failed or all.';
comment on column rota.backfills.at_once is
'How many runs of the backfill may be active at the same time.';
comment on column rota.backfills.gate_id is
'The gate that all runs of the backfill pass; it is closed while the backfill is paused.';
comment on column rota.backfills.reached is
'Progress. Oldest first: ticks before this time are decided. Newest first: ticks from '
'this time on are.';
comment on column rota.backfills.ticks is 'Ticks examined so far.';
comment on column rota.backfills.made is 'Runs created so far.';
comment on column rota.backfills.expected is 'How many runs it was expected to create.';
comment on column rota.backfills.is_guess is 'Whether `expected` is an estimate.';
comment on column rota.backfills.look_at is 'When a scheduler continues the backfill.';
comment on column rota.backfills.payload is
'Replaces the payload of the job. Null: the payload of the job.';

comment on table rota.calendars is
'Calendars that schedules refer to by name: holidays, working days, blackout windows.';

comment on table rota.cursors is
'The next tick of each job that has ticks to come. Separate from jobs, because firing a '
'tick must not rewrite the definition.';
comment on column rota.cursors.tick_at is
'Nominal time of the next tick. The run id is derived from job and tick.';
comment on column rota.cursors.fire_at is
'When the tick is decided, after jitter or a deferring calendar. Null while the job is on '
'hold.';
comment on column rota.cursors.version is
'Version of the job when the tick was computed; firing with an older version changes '
'nothing.';
comment on column rota.cursors.fired is
'Ticks fired so far; counted only for a job with a maximum.';
comment on column rota.cursors.shard is 'The shard whose scheduler fires the tick.';
comment on column rota.cursors.schedule_id is 'Null for a job that fires once.';
comment on column rota.cursors.keep_first is
'For overlap queue_one: keep the first waiting tick instead of the latest.';
comment on column rota.cursors.deadline is 'Deadline of the run, counted from its due time.';

comment on table rota.ended_jobs is
'Jobs whose last tick was fired; a maintenance service marks them as finished.';

comment on table rota.event_keys is 'Deduplication of events by a hash of (source, id).';

comment on table rota.event_members is 'Which events an event batch or its run consists of.';
comment on column rota.event_members.part is
'Position in the batch, or number of the condition in `all_of`.';

comment on table rota.event_piles is
'Event batches: events that wait to become one run, one batch per job and key.';
comment on column rota.event_piles.run_id is
'Id of the run that the batch becomes; chosen when the batch is opened.';
comment on column rota.event_piles.due_at is 'When the window closes.';
comment on column rota.event_piles.size is 'Bytes collected so far.';
comment on column rota.event_piles.filled is 'For `all_of`: which conditions are met.';

comment on table rota.event_types is
'Which jobs wait for which event types. A trigger on jobs maintains it.';

comment on table rota.events is
'Events received from outside. One partition per day, by the time in the event id.';
comment on column rota.events.body is
'All attributes of the event, as expressions and handlers see them.';
comment on column rota.events.matches is
'What the event led to, per job: {job_id, outcome, run_id, why}.';

comment on table rota.gates is
'Limits: concurrency, rate, or strict order. No counters that could leak: a claim locks '
'the gate and counts the runs that pass it now.';
comment on column rota.gates.key is 'What the limit applies to, with placeholders filled in.';
comment on column rota.gates.most is 'Maximum number of active runs. Null: unlimited.';
comment on column rota.gates.rate_count is 'Starts allowed per `rate_per`. Null: unlimited.';
comment on column rota.gates.paid_until is
'State of the rate limit: the time up to which all starts are accounted for.';
comment on column rota.gates.in_order is 'One run at a time, in the order of (scheduled_at, id).';
comment on column rota.gates.unused_since is
'When retention found that nothing refers to the gate.';

comment on table rota.graph_items is
'Items of a map that have not become runs yet, up to a thousand per row.';
comment on column rota.graph_items.first is 'Index of the first item.';
comment on column rota.graph_items.items is 'The items.';

comment on table rota.graph_maps is
'Progress of a map step: how many members exist, were created, and ended in which way.';
comment on column rota.graph_maps.total is
'Number of members; null while the source still produces items.';
comment on column rota.graph_maps.made is 'Members created so far.';
comment on column rota.graph_maps.handed is 'Items produced by the source so far.';
comment on column rota.graph_maps.again is 'Failed members that wait to run again after a retry.';
comment on column rota.graph_maps.again_after is 'The retry continues after this member.';
comment on column rota.graph_maps.base is
'Round in which the map began; ids of members contain it.';
comment on column rota.graph_maps.is_counted is 'The items are the numbers from 0.';
comment on column rota.graph_maps.is_sourcing is 'The source still produces items.';
comment on column rota.graph_maps.stopped is
'The state in which the map will end because no more members are created; null while it '
'proceeds.';

comment on table rota.graph_runs is
'State of graph runs. The row is the lock: a worker or scheduler that advances a graph '
'run holds it.';
comment on column rota.graph_runs.graph_id is
'The definition that the run began with. Null if the job has no graph any more; the run '
'then ends as dead.';
comment on column rota.graph_runs.path is
'Path to the sub-graph that this run executes: step numbers, empty for the whole graph.';
comment on column rota.graph_runs.board is
'State of every step, one character each; empty until the first pass.';
comment on column rota.graph_runs.round is
'Rises with every retry of the graph run; ids of step runs contain it.';
comment on column rota.graph_runs.rounds is
'{step: round} for steps whose last run belongs to a later round.';
comment on column rota.graph_runs.told is
'{step: reason} for steps that did not run, or failed before they ran.';

comment on table rota.graphs is
'Graph definitions, shared by all rows that use the same one. A row never changes.';
comment on column rota.graphs.digest is 'Hash of the definition.';
