// What the API takes and gives. Rendered from src/rota/api by `make generate`; do not edit.

export interface ApplyDraft {
  /** Whose jobs these are; kept in their label `rota.project`. */
  "project": string;
  /** All that the project is to have. */
  "jobs": Array<DeclaredJob>;
  /** Calendars of the tenant, made or replaced; none is ever deleted. */
  "calendars"?: Array<DeclaredCalendar>;
  /** Delete the jobs of the project that are not declared. */
  "prune"?: boolean;
  /** `seen` of the plan: refused if a job has another version by now. */
  "seen"?: Record<string, number> | null;
  /** The same for calendars. */
  "seen_calendars"?: Record<string, number> | null;
}

export interface AttemptView {
  "attempt_number": number;
  "outcome": string;
  "start_time": string | null;
  "end_time": string | null;
  "executor_id": string | null;
  "worker": string | null;
  "error_message": string | null;
  "reason": Record<string, unknown> | null;
}

export interface Attempts {
  "data": Array<AttemptView>;
}

export interface AuditQuery {
  /** What was changed: `job`, `run`, `key` and so on. */
  "thing"?: string | null;
  /** The id or the name of what was changed. */
  "thing_id"?: string | null;
  /** Who changed it. */
  "actor"?: string | null;
  /** How, as in `job.pause`. */
  "action"?: string | null;
  /** At this time or later. */
  "since"?: string | null;
  /** Before this time. */
  "until"?: string | null;
  /** How many of them at most. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** Who did what, when and from where. */
export interface AuditView {
  "id": number;
  "at": string;
  "actor": string;
  "key_id": string | null;
  "source": string | null;
  "action": string;
  "thing": string;
  "thing_id": string;
  "before": unknown;
  "after": unknown;
  "request_id": string | null;
}

/** What waits is cancelled; what runs may finish, or is asked to stop. */
export interface BackfillCancel {
  /** What becomes of runs that are at work. */
  "running"?: "cancel" | "finish";
  /** Why, for whoever asks later. */
  "reason"?: string | null;
}

/** Ticks from `since` on and before `until`, which may not lie in the future. `missing` makes runs for those that never ran; `all` runs each again, once for each `name`. */
export interface BackfillDraft {
  /** The first tick that counts. */
  "since": string;
  /** Ticks before this time count; it may not lie in the future. */
  "until": string;
  /** Ticks that never ran, or each of them again. */
  "only"?: "all" | "missing";
  /** Of the runs that are made; `low` unless it is said. */
  "priority"?: number | "high" | "low" | "medium" | "normal" | null;
  /** How many of them may run at a time. */
  "at_once"?: number;
  /** With `all`: each name runs every tick once. */
  "name"?: string;
  /** Only count. */
  "dry_run"?: boolean;
}

/** Ticks from `since` on and before `until`, however many; their runs are made little by little. `missing` are ticks that never ran, or whose runs were cancelled; `failed` those whose runs all failed. A tick with a run that is alive is left alone. */
export interface BackfillPlan {
  /** The first tick that counts. */
  "since": string;
  /** Ticks before this time count; it may not lie in the future. */
  "until": string;
  /** Ticks that never ran, those whose runs failed, or each of them again. */
  "only"?: "all" | "failed" | "missing";
  /** Which of them run first. */
  "order"?: "newest" | "oldest";
  /** How many of them may run at a time. */
  "at_once"?: number;
  /** Of the runs that are made; `low` unless it is said. */
  "priority"?: number | "high" | "low" | "medium" | "normal" | null;
  /** Of the runs, instead of the job's. */
  "payload"?: unknown;
  /** Only count. */
  "dry_run"?: boolean;
}

/** What was counted: `ticks` is the sum of `ran`, `alive`, `failed` and `missing`, `new` are those that get a run. With `estimated` the range was too long to look at each. `undecided` is the scheduler's own business, `takes` how long it will take, if the job has run before. */
export interface BackfillPlanned {
  "backfill_id": string | null;
  "ticks": number;
  "ran": number;
  "alive": number;
  "failed": number;
  "missing": number;
  "new": number;
  "undecided": number;
  "estimated": boolean;
  "takes": string | null;
}

/** A backfill as it is now. `ticks` were looked at, `made` runs were made for them, `alive` of which have not ended; `left` is what is alive or not even made. `reached` is the time up to which ticks are decided, or down to which if the newest come first. */
export interface BackfillProgress {
  "backfill_id": string;
  "job_id": string;
  "job_name": string | null;
  "status": string;
  "since": string;
  "until": string;
  "only": string;
  "order": string;
  "at_once": number;
  "priority": number;
  "payload": unknown;
  "reached": string;
  "ticks": number;
  "made": number;
  "succeeded": number;
  "failed": number;
  "cancelled": number;
  "alive": number;
  "left": number;
  "expected": number;
  "estimated": boolean;
  "eta": string | null;
  "paused_at": string | null;
  "created_at": string;
  "created_by": string;
  "ended_at": string | null;
  "reason": Record<string, unknown> | null;
}

/** How many ticks there are, have run, have not; `undecided` is the scheduler's own business. */
export interface BackfillView {
  "ticks": number;
  "exist": number;
  "missing": number;
  "new": number;
  "undecided": number;
  "run_ids": Array<string>;
}

export interface BackfillsQuery {
  "status"?: Array<"cancelled" | "cancelling" | "finished" | "paused" | "running">;
  /** Of this job. */
  "job_id"?: string | null;
  /** How many of them at most. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** Runs that were due from `start` on. The percentiles of their waits are to a twentieth. */
export interface BucketView {
  "start": string;
  "runs": Record<string, number>;
  "mean_wait_s": number | null;
  "wait_p50_s": number | null;
  "wait_p99_s": number | null;
  "longest_wait_s": number | null;
  "mean_duration_s": number | null;
}

/** `matched` is what the filter finds, `done` what this call did, `token` is for the next. */
export interface BulkDone {
  "matched": number;
  "done": number;
  "token": string | null;
}

/** First a dry run, which answers how many and a token; then the same with the token. */
export interface BulkDraft {
  /** Which runs; at least one of its fields must be said. */
  "filter": BulkFilter;
  /** Only count them, and answer the token to do it. */
  "dry_run"?: boolean;
  /** The token of a dry run with the same filter. */
  "token"?: string | null;
}

/** Which runs; at least one of these must be said. */
export interface BulkFilter {
  /** Of this job. */
  "job_id"?: string | null;
  /** Of this kind. */
  "kind"?: string | null;
  /** In this queue. */
  "queue"?: string | null;
  "error"?: string | null;
  /** Ended at this time or later; if unfinished, made. */
  "since"?: string | null;
  /** Ended before this time; if unfinished, made. */
  "until"?: string | null;
}

export interface BusyJob {
  "job_id": string;
  "job_name": string;
  "ticks": number;
}

export interface CalendarChangeView {
  "action": "create" | "update";
  "name": string;
  "version": number;
  "fields": Array<FieldChange>;
}

/** A calendar in the form of docs/reference/schedules.md; its name is in the path. */
export interface CalendarDraft {
  /** A calendar in the form of docs/reference/schedules.md. */
  "calendar": Record<string, unknown>;
}

export interface CalendarView {
  "name": string;
  "calendar": Record<string, unknown>;
  "version": number;
  "updated_at": string;
}

/** With `force` it ends now, whatever its worker does; its result is refused. */
export interface CancelDraft {
  /** Why, for whoever asks later. */
  "reason"?: string | null;
  /** End it now, whatever its worker does. */
  "force"?: boolean;
}

/** One job that is not as declared. `next_before` and `next_after` are when its next runs start; `note` says why they are not known. */
export interface ChangeView {
  "action": "create" | "prune" | "update";
  "name": string;
  "job_id": string | null;
  "version": number;
  "fields": Array<FieldChange>;
  "sentence": string | null;
  "next_before": Array<string>;
  "next_after": Array<string>;
  "moves": boolean;
  "note": string | null;
  "touched": TouchedView | null;
}

/** Dead letters that died alike. */
export interface DeadGroupView {
  "job_id": string;
  "job_name": string | null;
  "error_type": string;
  "message": string;
  "count": number;
  "first_seen": string;
  "last_seen": string;
  "sample_run_id": string;
}

export interface DeadGroups {
  "data": Array<DeadGroupView>;
}

export interface DeadGroupsQuery {
  /** Died at this time or later; a month ago unless it is said. */
  "since"?: string | null;
  /** How many of them at most. */
  "limit"?: number;
}

export interface DeclaredCalendar {
  /** What schedules name it by. */
  "name": string;
  /** A calendar in the form of docs/reference/schedules.md. */
  "calendar": Record<string, unknown>;
}

/** A job as a file declares it: a field that is left out has its default. Without a schedule it runs on demand. A limit is lifted by `none`; null is what an empty field of YAML is. */
export interface DeclaredJob {
  /** What it is known by; a new name is a new job. */
  "name": string;
  /** Which handler carries it out; the name unless it is said. */
  "kind"?: string;
  /** Another name for `kind`, which also knows the names of other schedulers, such as `HTTP_REQUEST`. */
  "job_type"?: string;
  /** As in docs/reference/schedules.md; at once unless it is said. */
  "schedule"?: Record<string, unknown>;
  /** What the schedule is; not needed, and refused if the rest says otherwise. */
  "schedule_type"?: "CRON" | "DELAYED" | "EVENT" | "FUTURE" | "IMMEDIATE" | "INTERVAL" | "MIXED" | "ON_DEMAND" | "RRULE";
  /** Run once, at this time. Short for `schedule.at`. */
  "schedule_time"?: string;
  /** Run by this expression. Short for `schedule.cron`. */
  "cron_expression"?: string;
  /** An IANA name for the flat fields; UTC unless it is said. */
  "timezone"?: string;
  /** What the handler is given. */
  "payload"?: unknown;
  /** With the kind `graph`: its steps, as in docs/howto/graphs.md. */
  "graph"?: Record<string, unknown> | null;
  /** How many more attempts after the first. Short for `retries.max`. */
  "max_retries"?: number;
  /** A number, or how often and how soon a failed run is tried again. */
  "retries"?: number | RetriesDraft;
  /** The longest an attempt may take, or `none`; 15 minutes usually. */
  "timeout"?: string;
  /** How long after its due time a run may go on; `none` usually. */
  "deadline"?: string;
  /** From asking an attempt to stop to ending it by force; 10 s usually. */
  "grace"?: string;
  /** What happens if a worker is lost. `exactly_once` needs a handler that completes its run in `ctx.transaction()`; other kinds refuse it. Default: `at_least_once`. */
  "guarantee"?: "at_least_once" | "at_most_once" | "exactly_once";
  /** What its attempts depend on. While it does not answer, runs wait instead of using up their retries. Unless it is said the host or the connection, of kinds that have one; null, or `none`, for that. */
  "target"?: string | null;
  /** Which workers serve it; `default` unless it is said. */
  "queue"?: string;
  /** From 0, which goes first, to 9, or by name; 5 unless it is said. */
  "priority"?: number | "high" | "low" | "medium" | "normal";
  /** What if a run of it is alive when it is due; `skip` unless said. */
  "overlap"?: "allow" | "cancel_running" | "queue_all" | "queue_one" | "skip" | "terminate_running";
  /** With `queue_one`: the run that waits stays, the new one is skipped. */
  "keep_first"?: boolean;
  /** What if it is due while its queue is paused; `skip` unless said. */
  "when_queue_paused"?: "accumulate" | "skip";
  /** Limits that its runs share with others of the same key. */
  "limits"?: Array<LimitDraft>;
  /** Names and values of your own, to find it by. */
  "labels"?: Record<string, string>;
  /** Whose job it is, for your own bookkeeping. */
  "user_id"?: string | null;
  /** Whether it is held; left as somebody put it unless it is said. */
  "paused"?: boolean;
}

export interface DeleteQuery {
  /** What happens to runs that are being executed: their workers are asked to stop them, or they go on (`keep`; `leave` is an older word for it). Default: `cancel`. */
  "running"?: "cancel" | "keep" | "leave";
}

export interface DepthView {
  "queue": string;
  "waiting": number;
  "oldest_wait_s": number | null;
}

export interface EventDraft {
  /** Where it comes from; `api` unless it is said. */
  "source"?: string;
  /** With its source it is the same event for ever; drawn unless it is said. */
  "id"?: string;
  /** RFC 3339, such as 2026-07-01T12:00:00Z. */
  "time"?: string;
  /** What it is about. */
  "subject"?: string;
  /** Whatever else there is to say. */
  "data"?: unknown;
  /** Which jobs it concerns, as in order.paid. */
  "type": string;
}

/** Which events; at least one of these must be said. */
export interface EventFilter {
  /** Of this type. */
  "type"?: string | null;
  /** From this source. */
  "source"?: string | null;
  /** That arrived at this time or later. */
  "since"?: string | null;
  /** That arrived before this time. */
  "until"?: string | null;
  /** Ask this job only, and not all that wait for the type. */
  "job_id"?: string | null;
}

/** A `duplicate` came before, and made nothing again. `run_ids` are the runs that it is part of; one that is gathered with others is not made yet. */
export interface EventTaken {
  "event_id": string;
  "source": string;
  "id": string;
  "duplicate": boolean;
  "run_ids": Array<string>;
}

/** `attributes` are those beside the usual ones, as CloudEvents has them. */
export interface EventView {
  "event_id": string;
  "type": string;
  "source": string;
  "id": string;
  "time": string;
  "subject": string | null;
  "received_at": string;
  "data": unknown;
  "attributes": Record<string, unknown>;
  "matches": Array<MatchView>;
}

/** One event, or several in `events`. */
export interface EventsDraft {
  /** Where it comes from; `api` unless it is said. */
  "source"?: string;
  /** With its source it is the same event for ever; drawn unless it is said. */
  "id"?: string;
  /** RFC 3339, such as 2026-07-01T12:00:00Z. */
  "time"?: string;
  /** What it is about. */
  "subject"?: string;
  /** Whatever else there is to say. */
  "data"?: unknown;
  /** Which jobs it concerns, as in order.paid. */
  "type"?: string;
  /** Several events instead of one: all are taken, or none. */
  "events"?: Array<EventDraft>;
}

export interface EventsQuery {
  /** Of this type. */
  "type"?: string | null;
  /** From this source. */
  "source"?: string | null;
  /** That arrived at this time or later. */
  "since"?: string | null;
  /** That arrived before this time. */
  "until"?: string | null;
  /** How many of them at most. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** First a dry run, which answers how many and a token; then the same with the token. */
export interface EventsReplayDraft {
  /** Which events; at least one of its fields must be said. */
  "filter": EventFilter;
  /** Only count them, and answer the token to do it. */
  "dry_run"?: boolean;
  /** The token of a dry run with the same filter. */
  "token"?: string | null;
}

export interface EventsTaken {
  "taken": number;
  "duplicates": number;
  "events": Array<EventTaken>;
}

export interface ExecutionsQuery {
  /** A worker: its id or its name. */
  "worker_id": string;
  "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success">;
  /** How many of them at most. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** Why it is where it is, in one sentence. */
export interface Explained {
  "run_id": string;
  "status": string;
  "code": string;
  "sentence": string;
  "details": Record<string, unknown>;
}

/** `cancel`: somebody asked for it to be stopped. */
export interface ExternalAnswer {
  "run_id": string;
  "cancel": boolean;
  "status": string;
}

/** A process that is about to do something, and wants it on record. */
export interface ExternalDraft {
  /** Of which job; made, with the kind `exec`, if need be. */
  "job": string;
  /** Where it is, to find the process by. */
  "host": string;
  /** What it does, for whoever looks. */
  "payload"?: unknown;
  /** Of the job, if it is made. */
  "labels"?: Record<string, string>;
}

export interface ExternalEnd {
  /** What it wrote since the last time. */
  "output"?: Array<OutputPiece>;
  /** 0 is success, anything else is not. */
  "exit_code": number;
  /** What went wrong; the exit code unless it is said. */
  "why"?: string | null;
}

/** Without a word about it for `lease_seconds` it is taken for lost. */
export interface ExternalRun {
  "job_id": string;
  "run_id": string;
  "lease_seconds": number;
  "log_url": string;
}

/** That it goes on, and what it wrote meanwhile. */
export interface ExternalWord {
  /** What it wrote since the last time. */
  "output"?: Array<OutputPiece>;
}

export interface FieldChange {
  "field": string;
  "before": unknown;
  "after": unknown;
}

/** What is wrong with one field; `pointer` is a JSON pointer into what was sent. */
export interface FieldError {
  "pointer": string;
  "code": string;
  "detail": string;
}

/** What a job's graph consists of, as it was written. */
export interface GraphView {
  "job_id": string;
  "graph": Record<string, unknown>;
}

export interface Health {
  "status": string;
}

/** A place where somebody without a key hands in events, by signing them. */
export interface HookDraft {
  /** Unique in the tenant; the source is hooks/ and it. */
  "name": string;
  /** The type of the events that come of it. */
  "type": string;
  /** How requests are signed: Standard Webhooks, or X-Hub-Signature-256. */
  "style"?: "github" | "standard";
  /** A secret that the sender has made; drawn unless it is said. */
  "secret"?: string | null;
}

/** With its secret, which is shown this once. */
export interface HookMade {
  "hook_id": string;
  "name": string;
  "type": string;
  "style": "github" | "standard";
  "url": string;
  "version": number;
  "created_at": string;
  "used_at": string | null;
  "secret": string;
}

export interface HookView {
  "hook_id": string;
  "name": string;
  "type": string;
  "style": "github" | "standard";
  "url": string;
  "version": number;
  "created_at": string;
  "used_at": string | null;
}

/** A job that is to be made. Without a kind its name is its kind; without a name it gets one. */
export interface JobDraft {
  /** Unique in the tenant among jobs that are not deleted. */
  "name"?: string;
  /** Which handler carries it out; the name unless it is said. */
  "kind"?: string;
  /** Another name for `kind`, which also knows the names of other schedulers, such as `HTTP_REQUEST`. */
  "job_type"?: string;
  /** As in docs/reference/schedules.md; at once unless it is said. */
  "schedule"?: Record<string, unknown>;
  /** What the schedule is; not needed, and refused if the rest says otherwise. */
  "schedule_type"?: "CRON" | "DELAYED" | "EVENT" | "FUTURE" | "IMMEDIATE" | "INTERVAL" | "MIXED" | "ON_DEMAND" | "RRULE";
  /** Run once, at this time. Short for `schedule.at`. */
  "schedule_time"?: string;
  /** Run by this expression. Short for `schedule.cron`. */
  "cron_expression"?: string;
  /** An IANA name for the flat fields; UTC unless it is said. */
  "timezone"?: string;
  /** What the handler is given. */
  "payload"?: unknown;
  /** With the kind `graph`: its steps, as in docs/howto/graphs.md. */
  "graph"?: Record<string, unknown> | null;
  /** How many more attempts after the first. Short for `retries.max`. */
  "max_retries"?: number;
  /** A number, or how often and how soon a failed run is tried again. */
  "retries"?: number | RetriesDraft;
  /** The longest an attempt may take; 15 minutes unless it is said, null for no limit. */
  "timeout"?: string | null;
  /** How long after its due time a run may go on; no limit unless said, null to lift it. */
  "deadline"?: string | null;
  /** From asking an attempt to stop to ending it by force; 10 s usually. */
  "grace"?: string;
  /** What happens if a worker is lost. `exactly_once` needs a handler that completes its run in `ctx.transaction()`; other kinds refuse it. Default: `at_least_once`. */
  "guarantee"?: "at_least_once" | "at_most_once" | "exactly_once";
  /** What its attempts depend on. While it does not answer, runs wait instead of using up their retries. Unless it is said the host or the connection, of kinds that have one; null, or `none`, for that. */
  "target"?: string | null;
  /** Which workers serve it; `default` unless it is said. */
  "queue"?: string;
  /** From 0, which goes first, to 9, or by name; 5 unless it is said. */
  "priority"?: number | "high" | "low" | "medium" | "normal";
  /** What if a run of it is alive when it is due; `skip` unless said. */
  "overlap"?: "allow" | "cancel_running" | "queue_all" | "queue_one" | "skip" | "terminate_running";
  /** With `queue_one`: the run that waits stays, the new one is skipped. */
  "keep_first"?: boolean;
  /** What if it is due while its queue is paused; `skip` unless said. */
  "when_queue_paused"?: "accumulate" | "skip";
  /** Limits that its runs share with others of the same key. */
  "limits"?: Array<LimitDraft>;
  /** Names and values of your own, to find it by. */
  "labels"?: Record<string, string>;
  /** Whose job it is, for your own bookkeeping. */
  "user_id"?: string | null;
  /** Of equal submissions only one becomes a run. */
  "unique"?: UniqueDraft;
}

/** Jobs that are made together: all or none. */
export interface JobDrafts {
  /** Each as in the operation that makes one. */
  "jobs": Array<JobDraft>;
}

/** Only what is to be different. */
export interface JobEdit {
  /** Unique in the tenant among jobs that are not deleted. */
  "name"?: string;
  /** Which handler carries it out; the name unless it is said. */
  "kind"?: string;
  /** Another name for `kind`, which also knows the names of other schedulers, such as `HTTP_REQUEST`. */
  "job_type"?: string;
  /** As in docs/reference/schedules.md; at once unless it is said. */
  "schedule"?: Record<string, unknown>;
  /** What the schedule is; not needed, and refused if the rest says otherwise. */
  "schedule_type"?: "CRON" | "DELAYED" | "EVENT" | "FUTURE" | "IMMEDIATE" | "INTERVAL" | "MIXED" | "ON_DEMAND" | "RRULE";
  /** Run once, at this time. Short for `schedule.at`. */
  "schedule_time"?: string;
  /** Run by this expression. Short for `schedule.cron`. */
  "cron_expression"?: string;
  /** An IANA name for the flat fields; UTC unless it is said. */
  "timezone"?: string;
  /** What the handler is given. */
  "payload"?: unknown;
  /** With the kind `graph`: its steps, as in docs/howto/graphs.md. */
  "graph"?: Record<string, unknown> | null;
  /** How many more attempts after the first. Short for `retries.max`. */
  "max_retries"?: number;
  /** A number, or how often and how soon a failed run is tried again. */
  "retries"?: number | RetriesDraft;
  /** The longest an attempt may take; 15 minutes unless it is said, null for no limit. */
  "timeout"?: string | null;
  /** How long after its due time a run may go on; no limit unless said, null to lift it. */
  "deadline"?: string | null;
  /** From asking an attempt to stop to ending it by force; 10 s usually. */
  "grace"?: string;
  /** What happens if a worker is lost. `exactly_once` needs a handler that completes its run in `ctx.transaction()`; other kinds refuse it. Default: `at_least_once`. */
  "guarantee"?: "at_least_once" | "at_most_once" | "exactly_once";
  /** What its attempts depend on. While it does not answer, runs wait instead of using up their retries. Unless it is said the host or the connection, of kinds that have one; null, or `none`, for that. */
  "target"?: string | null;
  /** Which workers serve it; `default` unless it is said. */
  "queue"?: string;
  /** From 0, which goes first, to 9, or by name; 5 unless it is said. */
  "priority"?: number | "high" | "low" | "medium" | "normal";
  /** What if a run of it is alive when it is due; `skip` unless said. */
  "overlap"?: "allow" | "cancel_running" | "queue_all" | "queue_one" | "skip" | "terminate_running";
  /** With `queue_one`: the run that waits stays, the new one is skipped. */
  "keep_first"?: boolean;
  /** What if it is due while its queue is paused; `skip` unless said. */
  "when_queue_paused"?: "accumulate" | "skip";
  /** Limits that its runs share with others of the same key. */
  "limits"?: Array<LimitDraft>;
  /** Names and values of your own, to find it by. */
  "labels"?: Record<string, string>;
  /** Whose job it is, for your own bookkeeping. */
  "user_id"?: string | null;
}

/** `run_id` is the first run of a job that runs at once. One that is `deduplicated` was there before: the uniqueness rule found it. */
export interface JobMade {
  "job_id": string;
  "run_id": string | null;
  "deduplicated": boolean;
  "next_run_at": string | null;
  "name": string;
  "status": string;
  "warnings": Array<string>;
}

/** The newest first. */
export interface JobOutcomes {
  "job_id": string;
  "runs": Array<OutcomeView>;
}

export interface JobStatus {
  "job_id": string;
  "status": string;
  "latest_run": LatestRun | null;
  "explanation": string;
}

/** A job as it is now. */
export interface JobView {
  "job_id": string;
  "name": string;
  "kind": string;
  "schedule_type": "CRON" | "DELAYED" | "EVENT" | "FUTURE" | "IMMEDIATE" | "INTERVAL" | "MIXED" | "ON_DEMAND" | "RRULE";
  "cron_expression": string | null;
  "schedule_time": string | null;
  "schedule": Record<string, unknown> | null;
  "timezone": string | null;
  "status": string;
  "payload": unknown;
  /** The steps of a graph; null for another kind, and in lists. */
  "graph": Record<string, unknown> | null;
  "max_retries": number;
  "retries": Record<string, unknown>;
  "timeout": string | null;
  "deadline": string | null;
  "grace": string;
  "guarantee": string;
  /** What it says to depend on; null if it says nothing. */
  "target": string | null;
  "queue": string;
  "priority": number;
  "overlap": string;
  "keep_first": boolean;
  "when_queue_paused": string;
  "limits": Array<Record<string, unknown>>;
  "labels": Record<string, string>;
  "user_id": string | null;
  "held": Record<string, unknown> | null;
  "next_run_at": string | null;
  "version": number;
  "created_at": string;
  "updated_at": string;
}

export interface JobsMade {
  "jobs": Array<JobMade>;
}

export interface JobsQuery {
  "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "active" | "cancelled" | "completed" | "deleted" | "enqueued" | "failed" | "finished" | "paused" | "pending" | "quarantined" | "retrying" | "running" | "scheduled" | "success">;
  /** Of this user. */
  "user_id"?: string | null;
  /** Of this kind. */
  "kind"?: string | null;
  /** In this queue. */
  "queue"?: string | null;
  "label"?: string | null;
  "q"?: string | null;
  /** Made at this time or later. */
  "created_after"?: string | null;
  /** Made before this time. */
  "created_before"?: string | null;
  /** How many of them at most. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** `lifetime` is 90 days unless it is said, and a year at most. */
export interface KeyDraft {
  /** What it is for. */
  "name": string;
  /** What it may do; none above your own. */
  "role": "admin" | "operator" | "platform" | "viewer";
  /** Who is named in the audit log instead of the key. */
  "user_id"?: string | null;
  /** 90 days unless it is said, a year at most. */
  "lifetime"?: string | null;
}

/** The only time that the key itself is shown. */
export interface KeyMade {
  "key_id": string;
  "name": string;
  "handle": string;
  "role": string;
  "user_id": string | null;
  "created_at": string;
  "expires_at": string | null;
  "revoked_at": string | null;
  "used_at": string | null;
  "key": string;
}

/** A key without its secret, which nobody can show again. */
export interface KeyView {
  "key_id": string;
  "name": string;
  "handle": string;
  "role": string;
  "user_id": string | null;
  "created_at": string;
  "expires_at": string | null;
  "revoked_at": string | null;
  "used_at": string | null;
}

/** The keys that were valid until now. */
export interface KeysRevoked {
  "user_id": string;
  "key_ids": Array<string>;
}

/** `workers` are those alive that carry it out; `payload_schema` is JSON Schema, if known. */
export interface KindView {
  "kind": string;
  "workers": number;
  "payload_schema": Record<string, unknown> | null;
}

export interface Kinds {
  "data": Array<KindView>;
}

export interface LatestRun {
  "run_id": string;
  "status": string;
  "start_time": string | null;
  "modified_time": string;
  "attempt_number": number;
  "executor_id": string | null;
}

/** A limit that all runs with the same key share; `{args.id}` is filled from the payload. */
export interface LimitDraft {
  /** Runs with the same key share the limit. */
  "key": string;
  /** How many may run at a time. */
  "max"?: number | null;
  /** How many may start per time. */
  "rate"?: RateDraft | null;
}

/** What all runs of a queue share; null lifts a limit. */
export interface LimitsDraft {
  /** How many may run at a time. */
  "max"?: number | null;
  /** How many may start per time. */
  "rate"?: RateDraft | null;
}

export interface LoadPart {
  "start": string;
  "ticks": number;
}

/** A day from now unless it is said, 35 days at most. */
export interface LoadQuery {
  /** Now unless it is said. */
  "since"?: string | null;
  /** A day after `since` unless it is said, 35 days at most. */
  "until"?: string | null;
  /** How wide a part is; a week of minutes at most. */
  "bucket"?: "hour" | "minute";
}

/** `buckets` are those with ticks. `unknown` jobs run again some time after they have ended. `is_estimate`: there were too many ticks to count each. */
export interface LoadView {
  "since": string;
  "until": string;
  "width_s": number;
  "buckets": Array<LoadPart>;
  "jobs": number;
  "unknown": number;
  "busiest": Array<BusyJob>;
  "is_estimate": boolean;
}

/** A piece of output as it was written; it may hold several lines, or a part of one. */
export interface LogLine {
  "attempt_number": number;
  "seq": number;
  "stream": string;
  "at": string;
  "text": string;
}

/** `cursor` is where to go on from, also when there is nothing more yet. */
export interface Logs {
  "data": Array<LogLine>;
  "cursor": string | null;
  "is_complete": boolean;
}

/** `after` is the `cursor` of the page before; `follow` answers a stream of events. */
export interface LogsQuery {
  /** `cursor` of the page before. */
  "after"?: string | null;
  /** How many pieces at most. */
  "limit"?: number;
  /** Answer a stream of events that goes on until the run has ended. */
  "follow"?: boolean;
}

/** All jobs of a project. */
export interface ManifestDraft {
  /** Whose jobs these are; kept in their label `rota.project`. */
  "project": string;
  /** All that the project is to have. */
  "jobs": Array<DeclaredJob>;
  /** Calendars of the tenant, made or replaced; none is ever deleted. */
  "calendars"?: Array<DeclaredCalendar>;
}

/** How far a map is. `total` is null while its source still counts; `alive` wait or run. */
export interface MapView {
  "total": number | null;
  "made": number;
  "alive": number;
  "succeeded": number;
  "failed": number;
  "cancelled": number;
  "progress": string;
}

/** What an event was for a job that waits for its type, and why. */
export interface MatchView {
  "job_id": string;
  "job_name": string | null;
  "outcome": "failed" | "filtered" | "gathered" | "matched" | "paused";
  "run_id": string | null;
  "why": string | null;
  "replay": string | null;
}

export interface MembersQuery {
  /** The name of the map. */
  "step": string;
  "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success">;
  /** How many of them at most. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** A run that runs, or how it ended; `reason` is also why a tick became none. */
export interface OutcomeView {
  "run_id": string;
  "status": string;
  "scheduled_at": string;
  "start_time": string | null;
  "end_time": string | null;
  "error_message": string | null;
  "reason": Record<string, unknown> | null;
}

export interface Outcomes {
  "data": Array<JobOutcomes>;
}

export interface OutcomesQuery {
  "job_id"?: Array<string>;
  /** How many of each job at most. */
  "each"?: number;
}

export interface OutputPiece {
  /** Counted from 0: a piece that comes twice is kept once. */
  "seq": number;
  /** What it wrote. */
  "text": string;
  /** Where it wrote it. */
  "stream"?: "stderr" | "stdout";
}

export interface PageQuery {
  /** How many of them at most. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** `next_cursor` is null on the last page. */
export interface Page_AuditView_ {
  "data": Array<AuditView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface Page_BackfillProgress_ {
  "data": Array<BackfillProgress>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface Page_CalendarView_ {
  "data": Array<CalendarView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface Page_EventView_ {
  "data": Array<EventView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface Page_HookView_ {
  "data": Array<HookView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface Page_JobView_ {
  "data": Array<JobView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface Page_KeyView_ {
  "data": Array<KeyView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface Page_RunView_ {
  "data": Array<RunView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface Page_SecretView_ {
  "data": Array<SecretView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface Page_TenantView_ {
  "data": Array<TenantView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface Page_UserView_ {
  "data": Array<UserView>;
  "next_cursor": string | null;
}

export interface PauseDraft {
  /** Why, for whoever finds it paused. */
  "reason"?: string | null;
}

/** What differs. `touched` are jobs that are as declared, and were changed by hand since. */
export interface PlanView {
  "project": string;
  "changes": Array<ChangeView>;
  "calendars": Array<CalendarChangeView>;
  "unchanged": number;
  "touched": Record<string, TouchedView>;
  "seen": Record<string, number>;
  "seen_calendars": Record<string, number>;
}

/** A schedule that is not saved yet. */
export interface PreviewDraft {
  /** A schedule in the form of docs/reference/schedules.md. */
  "schedule": Record<string, unknown>;
  /** How many of the next times to show. */
  "count"?: number;
  /** The zone of whoever looks, an IANA name; each time is shown in it as well. */
  "viewer"?: string | null;
}

export interface PreviewView {
  "sentence": string;
  "follows": string;
  "timezone": string;
  "tzdata": string;
  "schedule": Record<string, unknown>;
  "upcoming": Array<UpcomingView>;
  "warnings": Array<WarningView>;
}

/** RFC 9457, with a stable code and the fields that are wrong. */
export interface Problem {
  "type": string;
  "title": string;
  "status": number;
  "detail": string;
  "code": string;
  "request_id": string;
  "instance": string;
  "errors"?: Array<FieldError>;
}

export interface QueueState {
  "name": string;
  "is_paused": boolean;
}

/** A queue, and what of the caller's tenant is in it. Counts end at 10,000. */
export interface QueueView {
  "name": string;
  "is_paused": boolean;
  "paused_at": string | null;
  "max": number | null;
  "rate": Record<string, unknown> | null;
  "waiting": number;
  "later": number;
  "running": number;
  "oldest_waiting_since": string | null;
}

export interface Queues {
  "data": Array<QueueView>;
}

/** What a tenant may have at most; what is not said is not limited. */
export interface QuotasDraft {
  /** Jobs that are not deleted. */
  "max_jobs"?: number | null;
  /** Runs that wait. */
  "max_queued"?: number | null;
  /** Runs at a time. */
  "max_running"?: number | null;
  /** Runs that start in a second. */
  "runs_per_s"?: number | null;
  /** The shortest time between two ticks of a job. */
  "min_period"?: string | null;
}

/** So many starts per time, of which `burst` may come at once. */
export interface RateDraft {
  /** So many starts … */
  "count": number;
  /** … in this time. */
  "per": string;
  /** How many of them may come at once. */
  "burst"?: number;
}

/** With a payload of its own, or the one that the run had. */
export interface ReplayDraft {
  /** Instead of the one that the run had. */
  "payload"?: unknown;
}

/** The same, and how fast: what they died of may not bear them all at once. */
export interface ReplayManyDraft {
  /** Which runs; at least one of its fields must be said. */
  "filter": BulkFilter;
  /** Only count them, and answer the token to do it. */
  "dry_run"?: boolean;
  /** The token of a dry run with the same filter. */
  "token"?: string | null;
  /** How many may begin in a minute; all at once unless it is said. */
  "per_minute"?: number | null;
  /** How many were let go by calls before this one, at the same pace. */
  "before"?: number;
}

/** `matched` is what the filter finds, `done` how many were matched again, `runs` the runs that were made of them at once. */
export interface Replayed {
  "matched": number;
  "done": number;
  "runs": number;
  "token": string | null;
}

/** What becomes of the ticks that were missed; without it what the schedule says. */
export interface ResumeDraft {
  /** Whether ticks missed in the pause run: none, one, or each. */
  "missed"?: "all" | "once" | "skip" | null;
}

/** How often and how soon a failed run is tried again. */
export interface RetriesDraft {
  /** How many more attempts after the first; 3 unless it is said. */
  "max"?: number | null;
  /** How the delay grows from one attempt to the next. */
  "kind"?: "constant" | "exponential" | "linear" | "list" | null;
  /** The first delay. */
  "base"?: string | null;
  /** The longest delay. */
  "cap"?: string | null;
  /** With `list`: each delay in turn; the last one repeats. */
  "delays"?: Array<string> | null;
  /** How much of a delay is chance. */
  "jitter"?: "equal" | "full" | "none" | null;
}

export interface RotateDraft {
  /** A secret that the sender has made; drawn unless it is said. */
  "secret"?: string | null;
  /** How long the secret before is good as well. */
  "former_for"?: string;
}

/** One run with what it was given and what came of it, and the backfill that made it. */
export interface RunDetail {
  "run_id": string;
  "job_id": string;
  "job_name": string | null;
  "status": string;
  "scheduled_at": string;
  "due_at": string;
  "start_time": string | null;
  "end_time": string | null;
  "modified_time": string;
  "created_at": string;
  "attempt_number": number;
  "failures": number;
  "executor_id": string | null;
  "worker": string | null;
  "kind": string;
  "queue": string;
  "priority": number;
  "trigger": string;
  "error_message": string | null;
  "reason": Record<string, unknown> | null;
  "progress": number | null;
  "progress_message": string | null;
  "graph_run_id": string | null;
  "step": number | null;
  "member": number | null;
  "log_url": string;
  "payload": unknown;
  "result": unknown;
  "deadline_at": string | null;
  "backfill_id": string | null;
}

/** A graph run: its graph, and what became of every step. `counts` is how many are in which state, `critical_path` the steps that decided how long it took. */
export interface RunGraphView {
  "run_id": string;
  "job_id": string;
  "status": string;
  "round": number;
  "start_time": string | null;
  "paused_at": string | null;
  "end_time": string | null;
  "counts": Record<string, number>;
  "critical_path": Array<string>;
  "steps": Array<StepView>;
  "graph": Record<string, unknown>;
}

/** A run past the schedule; without a payload it has its job's. */
export interface RunNowDraft {
  /** Instead of the job's own. */
  "payload"?: unknown;
  /** Instead of the job's own. */
  "priority"?: number | "high" | "low" | "medium" | "normal" | null;
  /** Instead of the job's own. */
  "overlap"?: "allow" | "cancel_running" | "queue_all" | "queue_one" | "skip" | "terminate_running" | null;
}

export interface RunState {
  "run_id": string;
  "status": string;
}

/** A run as it is now; `modified_time` is when it last changed: started, made progress, was retried, was asked to cancel, or ended. The run of a step tells its graph run and the place of the step in it, and a member of a map its index. */
export interface RunView {
  "run_id": string;
  "job_id": string;
  "job_name": string | null;
  "status": string;
  "scheduled_at": string;
  "due_at": string;
  "start_time": string | null;
  "end_time": string | null;
  "modified_time": string;
  "created_at": string;
  "attempt_number": number;
  "failures": number;
  "executor_id": string | null;
  "worker": string | null;
  "kind": string;
  "queue": string;
  "priority": number;
  "trigger": string;
  "error_message": string | null;
  "reason": Record<string, unknown> | null;
  "progress": number | null;
  "progress_message": string | null;
  "graph_run_id": string | null;
  "step": number | null;
  "member": number | null;
  "log_url": string;
}

export interface RunsOfJobQuery {
  "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success">;
  /** How many of them at most. */
  "limit"?: number;
  "cursor"?: string | null;
}

export interface RunsQuery {
  "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success">;
  /** Of this job. */
  "job_id"?: string | null;
  /** Of this kind. */
  "kind"?: string | null;
  /** In this queue. */
  "queue"?: string | null;
  /** Executed last by this worker: its id or its name. */
  "worker_id"?: string | null;
  /** Steps of this graph run. */
  "graph_run_id"?: string | null;
  /** Made at this time or later. */
  "created_after"?: string | null;
  /** Made before this time. */
  "created_before"?: string | null;
  /** How many of them at most. */
  "limit"?: number;
  "cursor"?: string | null;
}

export interface SchedulerView {
  "scheduler_id": string;
  "name": string;
  "is_draining": boolean;
  "started_at": string;
  "beat_at": string;
  "shards": Array<number>;
}

export interface Schedulers {
  "data": Array<SchedulerView>;
}

export interface SecretDraft {
  /** The secret. A shorter one could not be kept out of logs. */
  "value": string;
}

export interface SecretView {
  "name": string;
  "version": number;
  "updated_at": string;
}

export interface SeriesQuery {
  /** The last hour by minutes, day by hours, or month by days. */
  "span"?: "day" | "hour" | "month";
}

export interface SeriesView {
  "width_s": number;
  "is_estimate": boolean;
  "buckets": Array<BucketView>;
}

export interface ShardView {
  "shard": number;
  "scheduler": string | null;
  "epoch": number;
  "expires_at": string | null;
}

export interface Shards {
  "data": Array<ShardView>;
}

/** A source of events, and how far it was read. */
export interface SourceView {
  "name": string;
  "kind": string;
  /** `reading`: a process reads it. `failing`: the last try failed, and it is tried again. `idle`: no process does; perhaps none has it in its settings. */
  "state": "failing" | "idle" | "reading";
  /** The process that reads it now. */
  "reader": string | null;
  /** How far it was read, in the source's own words. */
  "position": string | null;
  /** Events that were known to wait behind it; null if it cannot tell. */
  "lag": number | null;
  /** Events taken so far; one that came again counts once. */
  "taken": number;
  /** Messages passed over because they are no events. */
  "refused": number;
  /** When it last answered. */
  "read_at": string | null;
  /** When it last had a new event. */
  "taken_at": string | null;
  /** Failures in a row. */
  "failures": number;
  /** What went wrong last. */
  "error": string | null;
  "error_at": string | null;
}

export interface Sources {
  "data": Array<SourceView>;
}

/** Since when; an hour ago unless it is said, a month ago at most. */
export interface StatisticsQuery {
  /** An hour ago unless it is said, a month ago at most. */
  "since"?: string | null;
}

/** `is_estimate`: there were too many runs to count each. */
export interface StatisticsView {
  "since": string;
  "now": string;
  "runs": Record<string, number>;
  "is_estimate": boolean;
  "failure_rate": number | null;
  "runs_per_second": number;
  "wait_p50_s": number | null;
  "wait_p99_s": number | null;
  "duration_p50_s": number | null;
  "duration_p99_s": number | null;
  "queues": Array<DepthView>;
  "late_ticks": number;
  "latest_tick_by_s": number;
}

/** One step. `status` is waiting, live, succeeded, failed, cancelled or skipped; `run_id` is its run, of a sub-graph the graph run to look at next, and of a map its source if it has one. */
export interface StepView {
  "name": string;
  "index": number;
  "kind": string;
  "needs": Array<string>;
  "status": string;
  "is_graph": boolean;
  "is_critical": boolean;
  "run_id": string | null;
  "run_status": string | null;
  "attempt_number": number | null;
  "start_time": string | null;
  "end_time": string | null;
  "reason": string | null;
  "map": MapView | null;
}

export interface TenantDraft {
  /** Unique among the tenants. */
  "name": string;
  /** Its share of busy workers, next to the others. */
  "weight"?: number;
  /** What it may have at most. */
  "quotas"?: QuotasDraft | null;
}

export interface TenantEdit {
  /** Its share of busy workers, next to the others. */
  "weight"?: number;
  /** All of them anew: what is not said is not limited any more. */
  "quotas"?: QuotasDraft;
}

export interface TenantView {
  "tenant_id": number;
  "name": string;
  "weight": number;
  "quotas": Record<string, unknown>;
  "is_paused": boolean;
  "paused_at": string | null;
  "created_at": string;
}

/** `path` follows the address of the API. */
export interface TicketView {
  "ticket": string;
  "path": string;
  "expires_at": string;
}

/** Who changed it by hand, and when. */
export interface TouchedView {
  "by": string;
  "at": string;
  "action": string;
}

/** `refused` says why there is no run: the overlap policy did not allow one. */
export interface Triggered {
  "job_id": string;
  "run_id": string;
  "refused": string | null;
}

/** Of equal submissions one becomes a run; the others get it, are refused, or replace it. */
export interface UniqueDraft {
  /** What makes it equal; `{args.id}` is filled from the payload. */
  "key": string;
  /** Held until it begins, or, as usual, until it has ended. */
  "while"?: "live" | "queued";
  /** The key is held at least this long, whatever became of the run. */
  "within"?: string;
  /** Who comes later gets the first, as usual, or 409, or replaces it. */
  "on_conflict"?: "reject" | "replace" | "return";
}

export interface UpcomingView {
  "at": string;
  "due_at": string;
  "local": string;
  "viewed": string;
  "notes": Array<string>;
}

/** Whom jobs and keys name. `jobs` are those that are not deleted, counted up to 200; `keys` are those that are valid. */
export interface UserView {
  "user_id": string;
  "jobs": number;
  "keys": number;
}

export interface WarningView {
  "code": string;
  "detail": string;
}

export interface WhoAmI {
  "key_id": string;
  "name": string;
  "tenant": string;
  "role": string;
  "user_id": string | null;
  "expires_at": string | null;
}

export interface WorkerDrained {
  "worker_id": string;
  "name": string;
  "is_draining": boolean;
}

export interface WorkerView {
  "worker_id": string;
  "name": string;
  "is_alive": boolean;
  "is_draining": boolean;
  "slots": number;
  "running": number;
  "queues": Array<string>;
  "kinds": Array<string>;
  "started_at": string;
  "beat_at": string;
}

export interface Workers {
  "data": Array<WorkerView>;
}

export interface WorkersQuery {
  /** Also those that have died or stopped lately. */
  "with_dead"?: boolean;
}

/** Every operation, by its method and path. */
export interface Operations {
  /** How many ticks of all your jobs fall into each minute or hour to come. */
  "GET /v1/schedules/load": { path: {  }; query: { "since"?: string | undefined; "until"?: string | undefined; "bucket"?: "hour" | "minute" | undefined }; body: undefined; answer: LoadView };
  /** The kinds of jobs that workers carry out, with what their payloads look like. */
  "GET /v1/kinds": { path: {  }; query: {  }; body: undefined; answer: Kinds };
  /** Changes, the latest first. That somebody read them is written down as well. */
  "GET /v1/audit": { path: {  }; query: { "thing"?: string | undefined; "thing_id"?: string | undefined; "actor"?: string | undefined; "action"?: string | undefined; "since"?: string | undefined; "until"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_AuditView_ };
  /** Backfills, the newest first. */
  "GET /v1/backfills": { path: {  }; query: { "status"?: Array<"cancelled" | "cancelling" | "finished" | "paused" | "running"> | undefined; "job_id"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_BackfillProgress_ };
  /** One backfill: how far it is, and when it will be done. */
  "GET /v1/backfills/{backfill_id}": { path: { backfill_id: string }; query: {  }; body: undefined; answer: BackfillProgress };
  /** Start no more of its runs; those that run may finish. */
  "POST /v1/backfills/{backfill_id}/pause": { path: { backfill_id: string }; query: {  }; body: undefined; answer: BackfillProgress };
  /** Let a paused backfill go on. */
  "POST /v1/backfills/{backfill_id}/resume": { path: { backfill_id: string }; query: {  }; body: undefined; answer: BackfillProgress };
  /** Make no more runs and cancel those that wait; what runs may finish, or is cancelled too. */
  "POST /v1/backfills/{backfill_id}/cancel": { path: { backfill_id: string }; query: {  }; body: BackfillCancel | undefined; answer: BackfillProgress };
  /** Make the calendar of this name (201), or replace it. */
  "PUT /v1/calendars/{name}": { path: { name: string }; query: {  }; body: CalendarDraft; answer: CalendarView };
  /** Calendars by name. */
  "GET /v1/calendars": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_CalendarView_ };
  /** One calendar. */
  "GET /v1/calendars/{name}": { path: { name: string }; query: {  }; body: undefined; answer: CalendarView };
  /** Delete a calendar that no job goes by. */
  "DELETE /v1/calendars/{name}": { path: { name: string }; query: {  }; body: undefined; answer: undefined };
  /** Every queue: whether it is paused, its limits, and what of yours waits and runs in it. */
  "GET /v1/queues": { path: {  }; query: {  }; body: undefined; answer: Queues };
  /** Start nothing of this queue any more; what runs goes on. */
  "POST /v1/queues/{queue}/pause": { path: { queue: string }; query: {  }; body: undefined; answer: QueueState };
  /** Start its runs again. */
  "POST /v1/queues/{queue}/resume": { path: { queue: string }; query: {  }; body: undefined; answer: QueueState };
  /** Let so many run at a time and so many start per time; nothing said lifts the limits. */
  "PUT /v1/queues/{queue}/limits": { path: { queue: string }; query: {  }; body: LimitsDraft; answer: undefined };
  /** The workers that are alive, with what they serve and how busy they are. */
  "GET /v1/workers": { path: {  }; query: { "with_dead"?: boolean | undefined }; body: undefined; answer: Workers };
  /** Let a worker take no more runs, and end when those that it has have ended. */
  "POST /v1/workers/{worker_id}/drain": { path: { worker_id: string }; query: {  }; body: undefined; answer: WorkerDrained };
  /** The schedulers that are alive, with their shards. */
  "GET /v1/schedulers": { path: {  }; query: {  }; body: undefined; answer: Schedulers };
  /** The 128 shards and who fires them. */
  "GET /v1/shards": { path: {  }; query: {  }; body: undefined; answer: Shards };
  /** Runs, newest first; a page may be short and still have a next one. */
  "GET /v1/runs": { path: {  }; query: { "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success"> | undefined; "job_id"?: string | undefined; "kind"?: string | undefined; "queue"?: string | undefined; "worker_id"?: string | undefined; "graph_run_id"?: string | undefined; "created_after"?: string | undefined; "created_before"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_RunView_ };
  /** The runs that a worker executes or executed last. */
  "GET /v1/executions": { path: {  }; query: { "worker_id": string; "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success"> | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_RunView_ };
  /** One run, with its payload and its result. */
  "GET /v1/runs/{run_id}": { path: { run_id: string }; query: {  }; body: undefined; answer: RunDetail };
  /** Every attempt of a run, the first one first. */
  "GET /v1/runs/{run_id}/attempts": { path: { run_id: string }; query: {  }; body: undefined; answer: Attempts };
  /** Why it waits, or what became of it, in one sentence. */
  "GET /v1/runs/{run_id}/explain": { path: { run_id: string }; query: {  }; body: undefined; answer: Explained };
  /** Cancel a run: at once if it waits; if it runs, its worker is asked to stop it (202). */
  "POST /v1/runs/{run_id}/cancel": { path: { run_id: string }; query: {  }; body: CancelDraft | undefined; answer: RunState };
  /** Let a run that died, was lost or was cancelled go again, as itself. */
  "POST /v1/runs/{run_id}/retry": { path: { run_id: string }; query: {  }; body: undefined; answer: RunState };
  /** Make a new run like a finished one, with the same payload or another. */
  "POST /v1/runs/{run_id}/replay": { path: { run_id: string }; query: {  }; body: ReplayDraft | undefined; answer: Triggered };
  /** Cancel many runs: a dry run answers how many, and the token to do it. */
  "POST /v1/runs/bulk-cancel": { path: {  }; query: {  }; body: BulkDraft; answer: BulkDone };
  /** Runs that need somebody to look: dead, lost or quarantined. */
  "GET /v1/dead-letters": { path: {  }; query: { "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success"> | undefined; "job_id"?: string | undefined; "kind"?: string | undefined; "queue"?: string | undefined; "worker_id"?: string | undefined; "graph_run_id"?: string | undefined; "created_after"?: string | undefined; "created_before"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_RunView_ };
  /** Dead letters that died alike, counted together, the last seen first. */
  "GET /v1/dead-letters/groups": { path: {  }; query: { "since"?: string | undefined; "limit"?: number | undefined }; body: undefined; answer: DeadGroups };
  /** Let dead letters go again: a dry run answers how many, and the token to do it. */
  "POST /v1/dead-letters/replay": { path: {  }; query: {  }; body: ReplayManyDraft; answer: BulkDone };
  /** Take dead letters off the list: a dry run answers how many, and the token to do it. */
  "POST /v1/dead-letters/drop": { path: {  }; query: {  }; body: BulkDraft; answer: BulkDone };
  /** Take one dead letter off the list; the run stays in history. */
  "DELETE /v1/dead-letters/{run_id}": { path: { run_id: string }; query: {  }; body: undefined; answer: undefined };
  /** Hand in events: each becomes a run of every job that waits for it. */
  "POST /v1/events": { path: {  }; query: {  }; body: EventsDraft; answer: EventsTaken };
  /** Events that arrived, the newest first. */
  "GET /v1/events": { path: {  }; query: { "type"?: string | undefined; "source"?: string | undefined; "since"?: string | undefined; "until"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_EventView_ };
  /** An event, and what it came to, job by job; where it did not run, why. */
  "GET /v1/events/{event_id}": { path: { event_id: string }; query: {  }; body: undefined; answer: EventView };
  /** Match events again with the jobs as they are now; their runs are new ones. */
  "POST /v1/events:replay": { path: {  }; query: {  }; body: EventsReplayDraft; answer: Replayed };
  /** Begin a run that the caller carries out: it is running from now on. */
  "POST /v1/runs/external": { path: {  }; query: {  }; body: ExternalDraft; answer: ExternalRun };
  /** Say that it goes on, and what it wrote. */
  "POST /v1/runs/{run_id}/external": { path: { run_id: string }; query: {  }; body: ExternalWord; answer: ExternalAnswer };
  /** Say how it ended. */
  "POST /v1/runs/{run_id}/external/end": { path: { run_id: string }; query: {  }; body: ExternalEnd; answer: ExternalAnswer };
  /** Runs made, started, progressed and ended, and jobs changed, as a stream of events. */
  "GET /v1/feed": { path: {  }; query: {  }; body: undefined; answer: undefined };
  /** The graph of a job. */
  "GET /v1/jobs/{job_id}/graph": { path: { job_id: string }; query: {  }; body: undefined; answer: GraphView };
  /** A graph run with every step: its state, its run, its times, and how far its maps are. */
  "GET /v1/runs/{run_id}/graph": { path: { run_id: string }; query: {  }; body: undefined; answer: RunGraphView };
  /** The members of a map in their order; a page may be short and still have a next one. */
  "GET /v1/runs/{run_id}/members": { path: { run_id: string }; query: { "step": string; "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success"> | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_RunView_ };
  /** Let a graph run that ended go on from its failed steps; what succeeded is not done again. */
  "POST /v1/runs/{run_id}/retryFailed": { path: { run_id: string }; query: {  }; body: undefined; answer: RunState };
  /** Let a graph run start no more steps; those that run go on. */
  "POST /v1/runs/{run_id}/pause": { path: { run_id: string }; query: {  }; body: undefined; answer: RunState };
  /** Let a paused graph run go on. */
  "POST /v1/runs/{run_id}/resume": { path: { run_id: string }; query: {  }; body: undefined; answer: RunState };
  /** Make a hook; this is the only time that its secret is shown. */
  "POST /v1/hooks": { path: {  }; query: {  }; body: HookDraft; answer: HookMade };
  /** The hooks by name, without their secrets. */
  "GET /v1/hooks": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_HookView_ };
  /** Give a hook another secret; the one before is good for a day, or as long as is said. */
  "POST /v1/hooks/{hook_id}/rotate": { path: { hook_id: string }; query: {  }; body: RotateDraft | undefined; answer: HookMade };
  /** Hand in the event that a signed request is. */
  "POST /v1/hooks/{hook_id}": { path: { hook_id: string }; query: {  }; body: unknown; answer: EventTaken };
  /** Delete a hook: from now on nothing is taken there. */
  "DELETE /v1/hooks/{hook_id}": { path: { hook_id: string }; query: {  }; body: undefined; answer: undefined };
  /** Make a job. */
  "POST /v1/jobs": { path: {  }; query: {  }; body: JobDraft; answer: JobMade };
  /** Make up to 1,000 jobs, all or none. */
  "POST /v1/jobs/bulk": { path: {  }; query: {  }; body: JobDrafts; answer: JobsMade };
  /** Jobs, newest first. */
  "GET /v1/jobs": { path: {  }; query: { "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "active" | "cancelled" | "completed" | "deleted" | "enqueued" | "failed" | "finished" | "paused" | "pending" | "quarantined" | "retrying" | "running" | "scheduled" | "success"> | undefined; "user_id"?: string | undefined; "kind"?: string | undefined; "queue"?: string | undefined; "label"?: string | undefined; "q"?: string | undefined; "created_after"?: string | undefined; "created_before"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_JobView_ };
  /** One job. */
  "GET /v1/jobs/{job_id}": { path: { job_id: string }; query: {  }; body: undefined; answer: JobView };
  /** Change a job: only the fields that are given. */
  "PUT /v1/jobs/{job_id}": { path: { job_id: string }; query: {  }; body: JobEdit; answer: JobView };
  /** The same as PUT. */
  "PATCH /v1/jobs/{job_id}": { path: { job_id: string }; query: {  }; body: JobEdit; answer: JobView };
  /** Make the job of this name, or change it if there is one. */
  "PUT /v1/jobs/by-name/{name}": { path: { name: string }; query: {  }; body: JobDraft; answer: JobView };
  /** The job of this name. */
  "GET /v1/jobs/by-name/{name}": { path: { name: string }; query: {  }; body: undefined; answer: JobView };
  /** Delete a job and cancel its runs. */
  "DELETE /v1/jobs/{job_id}": { path: { job_id: string }; query: { "running"?: "cancel" | "keep" | "leave" | undefined }; body: undefined; answer: undefined };
  /** Fire no more ticks until it is resumed; runs that exist go on. */
  "POST /v1/jobs/{job_id}/pause": { path: { job_id: string }; query: {  }; body: PauseDraft | undefined; answer: JobView };
  /** Go on. What was missed meanwhile runs or is recorded as its schedule says, or as asked. */
  "POST /v1/jobs/{job_id}/resume": { path: { job_id: string }; query: {  }; body: ResumeDraft | undefined; answer: JobView };
  /** Run it past its schedule, with its own payload or another. */
  "POST /v1/jobs/{job_id}/runNow": { path: { job_id: string }; query: {  }; body: RunNowDraft | undefined; answer: Triggered };
  /** How it stands: its newest run, and why it waits if it does. */
  "GET /v1/jobs/{job_id}/status": { path: { job_id: string }; query: {  }; body: undefined; answer: JobStatus };
  /** Its runs, newest first. */
  "GET /v1/jobs/{job_id}/runs": { path: { job_id: string }; query: { "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success"> | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_RunView_ };
  /** Make a key; this is the only time that it is shown. */
  "POST /v1/keys": { path: {  }; query: {  }; body: KeyDraft; answer: KeyMade };
  /** The keys of the tenant, the oldest first, without their secrets. */
  "GET /v1/keys": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_KeyView_ };
  /** Revoke a key: within five seconds nobody can use it any more. */
  "DELETE /v1/keys/{key_id}": { path: { key_id: string }; query: {  }; body: undefined; answer: KeyView };
  /** Make a link that logs in at the dashboard, once and within a minute. */
  "POST /v1/login-tickets": { path: {  }; query: {  }; body: undefined; answer: TicketView };
  /** What its attempts wrote, in order; with `follow=true` as a stream of events. */
  "GET /v1/runs/{run_id}/logs": { path: { run_id: string }; query: { "after"?: string | undefined; "limit"?: number | undefined; "follow"?: boolean | undefined }; body: undefined; answer: Logs };
  /** What applying the jobs of a project would change, and which of its next runs move. */
  "POST /v1/manifests/plan": { path: {  }; query: {  }; body: ManifestDraft; answer: PlanView };
  /** Make the jobs of a project what is declared: all of it, or nothing. */
  "POST /v1/manifests/apply": { path: {  }; query: {  }; body: ApplyDraft; answer: PlanView };
  /** How the last runs of several jobs went: what runs, how it ended, or why there was none. */
  "GET /v1/jobs/outcomes": { path: {  }; query: { "job_id"?: Array<string> | undefined; "each"?: number | undefined }; body: undefined; answer: Outcomes };
  /** What a schedule will do: in words, its next times, and what daylight saving does to them. */
  "POST /v1/schedules/preview": { path: {  }; query: {  }; body: PreviewDraft; answer: PreviewView };
  /** Make runs for ticks of a past range, all at once; a dry run only counts them. */
  "POST /v1/jobs/{job_id}/backfill": { path: { job_id: string }; query: {  }; body: BackfillDraft; answer: BackfillView };
  /** Begin to make runs for a past range of any length (201), or only count them (200). */
  "POST /v1/jobs/{job_id}/backfills": { path: { job_id: string }; query: {  }; body: BackfillPlan; answer: BackfillPlanned };
  /** Write a secret, or a new version of it. Nobody can read it back. */
  "PUT /v1/secrets/{name}": { path: { name: string }; query: {  }; body: SecretDraft; answer: SecretView };
  /** The names of the secrets. */
  "GET /v1/secrets": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_SecretView_ };
  /** Delete a secret in all its versions. */
  "DELETE /v1/secrets/{name}": { path: { name: string }; query: {  }; body: undefined; answer: undefined };
  /** Whose key this is and what it may do. */
  "GET /v1/whoami": { path: {  }; query: {  }; body: undefined; answer: WhoAmI };
  /** This interface as an OpenAPI 3.1 document. */
  "GET /v1/openapi.json": { path: {  }; query: {  }; body: undefined; answer: Record<string, unknown> };
  /** The sources that events come from: who reads them, how far, and what went wrong last. */
  "GET /v1/sources": { path: {  }; query: {  }; body: undefined; answer: Sources };
  /** How it goes: runs by outcome, waits and durations, what waits now, what is late. */
  "GET /v1/statistics": { path: {  }; query: { "since"?: string | undefined }; body: undefined; answer: StatisticsView };
  /** The same over the last hour by minutes, the last day by hours, or the last month by days. */
  "GET /v1/statistics/series": { path: {  }; query: { "span"?: "day" | "hour" | "month" | undefined }; body: undefined; answer: SeriesView };
  /** Make a tenant. */
  "POST /v1/tenants": { path: {  }; query: {  }; body: TenantDraft; answer: TenantView };
  /** All tenants, the oldest first. */
  "GET /v1/tenants": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_TenantView_ };
  /** One tenant. */
  "GET /v1/tenants/{tenant_id}": { path: { tenant_id: string }; query: {  }; body: undefined; answer: TenantView };
  /** Change its weight or its quotas. */
  "PATCH /v1/tenants/{tenant_id}": { path: { tenant_id: string }; query: {  }; body: TenantEdit; answer: TenantView };
  /** Delete a tenant that has no jobs. */
  "DELETE /v1/tenants/{tenant_id}": { path: { tenant_id: string }; query: {  }; body: undefined; answer: undefined };
  /** Start no run of it any more; what runs goes on. */
  "POST /v1/tenants/{tenant_id}/pause": { path: { tenant_id: string }; query: {  }; body: undefined; answer: TenantView };
  /** Start its runs again. */
  "POST /v1/tenants/{tenant_id}/resume": { path: { tenant_id: string }; query: {  }; body: undefined; answer: TenantView };
  /** Make a key for a tenant; this is the only time that it is shown. */
  "POST /v1/tenants/{tenant_id}/keys": { path: { tenant_id: string }; query: {  }; body: KeyDraft; answer: KeyMade };
  /** The users of the tenant, by name: how many jobs and valid keys each has. */
  "GET /v1/users": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_UserView_ };
  /** One user. */
  "GET /v1/users/{user_id}": { path: { user_id: string }; query: {  }; body: undefined; answer: UserView };
  /** Revoke all keys of a user: within five seconds none of them can be used any more. */
  "DELETE /v1/users/{user_id}/keys": { path: { user_id: string }; query: {  }; body: undefined; answer: KeysRevoked };
}

export const RUN_STATES = [
  "blocked",
  "queued",
  "retrying",
  "running",
  "cancelling",
  "succeeded",
  "dead",
  "cancelled",
  "skipped",
  "missed",
  "coalesced",
  "expired",
  "lost",
  "quarantined"
] as const;
export const LIVE_STATES = [
  "blocked",
  "queued",
  "retrying",
  "running",
  "cancelling"
] as const;
export const JOB_STATES = [
  "active",
  "paused",
  "quarantined",
  "finished",
  "deleted"
] as const;
/** What each role may. */
export const ROLES = {
  "viewer": [
    "read"
  ],
  "operator": [
    "define",
    "operate",
    "read"
  ],
  "admin": [
    "define",
    "manage",
    "operate",
    "read"
  ],
  "platform": [
    "define",
    "manage",
    "operate",
    "platform",
    "read"
  ]
} as const;
/** What an operation asks of whoever calls it. */
export const NEEDS = {
  "GET /v1/schedules/load": "read",
  "GET /v1/kinds": "read",
  "GET /v1/audit": "manage",
  "GET /v1/backfills": "read",
  "GET /v1/backfills/{backfill_id}": "read",
  "POST /v1/backfills/{backfill_id}/pause": "operate",
  "POST /v1/backfills/{backfill_id}/resume": "operate",
  "POST /v1/backfills/{backfill_id}/cancel": "operate",
  "PUT /v1/calendars/{name}": "manage",
  "GET /v1/calendars": "read",
  "GET /v1/calendars/{name}": "read",
  "DELETE /v1/calendars/{name}": "manage",
  "GET /v1/queues": "read",
  "POST /v1/queues/{queue}/pause": "platform",
  "POST /v1/queues/{queue}/resume": "platform",
  "PUT /v1/queues/{queue}/limits": "platform",
  "GET /v1/workers": "read",
  "POST /v1/workers/{worker_id}/drain": "platform",
  "GET /v1/schedulers": "read",
  "GET /v1/shards": "read",
  "GET /v1/runs": "read",
  "GET /v1/executions": "read",
  "GET /v1/runs/{run_id}": "read",
  "GET /v1/runs/{run_id}/attempts": "read",
  "GET /v1/runs/{run_id}/explain": "read",
  "POST /v1/runs/{run_id}/cancel": "operate",
  "POST /v1/runs/{run_id}/retry": "operate",
  "POST /v1/runs/{run_id}/replay": "operate",
  "POST /v1/runs/bulk-cancel": "operate",
  "GET /v1/dead-letters": "read",
  "GET /v1/dead-letters/groups": "read",
  "POST /v1/dead-letters/replay": "operate",
  "POST /v1/dead-letters/drop": "operate",
  "DELETE /v1/dead-letters/{run_id}": "operate",
  "POST /v1/events": "operate",
  "GET /v1/events": "read",
  "GET /v1/events/{event_id}": "read",
  "POST /v1/events:replay": "operate",
  "POST /v1/runs/external": "define",
  "POST /v1/runs/{run_id}/external": "define",
  "POST /v1/runs/{run_id}/external/end": "define",
  "GET /v1/feed": "read",
  "GET /v1/jobs/{job_id}/graph": "read",
  "GET /v1/runs/{run_id}/graph": "read",
  "GET /v1/runs/{run_id}/members": "read",
  "POST /v1/runs/{run_id}/retryFailed": "operate",
  "POST /v1/runs/{run_id}/pause": "operate",
  "POST /v1/runs/{run_id}/resume": "operate",
  "POST /v1/hooks": "manage",
  "GET /v1/hooks": "manage",
  "POST /v1/hooks/{hook_id}/rotate": "manage",
  "DELETE /v1/hooks/{hook_id}": "manage",
  "POST /v1/jobs": "define",
  "POST /v1/jobs/bulk": "define",
  "GET /v1/jobs": "read",
  "GET /v1/jobs/{job_id}": "read",
  "PUT /v1/jobs/{job_id}": "define",
  "PATCH /v1/jobs/{job_id}": "define",
  "PUT /v1/jobs/by-name/{name}": "define",
  "GET /v1/jobs/by-name/{name}": "read",
  "DELETE /v1/jobs/{job_id}": "define",
  "POST /v1/jobs/{job_id}/pause": "operate",
  "POST /v1/jobs/{job_id}/resume": "operate",
  "POST /v1/jobs/{job_id}/runNow": "operate",
  "GET /v1/jobs/{job_id}/status": "read",
  "GET /v1/jobs/{job_id}/runs": "read",
  "POST /v1/keys": "manage",
  "GET /v1/keys": "manage",
  "DELETE /v1/keys/{key_id}": "manage",
  "POST /v1/login-tickets": "read",
  "GET /v1/runs/{run_id}/logs": "read",
  "POST /v1/manifests/plan": "read",
  "POST /v1/manifests/apply": "define",
  "GET /v1/jobs/outcomes": "read",
  "POST /v1/schedules/preview": "read",
  "POST /v1/jobs/{job_id}/backfill": "operate",
  "POST /v1/jobs/{job_id}/backfills": "operate",
  "PUT /v1/secrets/{name}": "manage",
  "GET /v1/secrets": "manage",
  "DELETE /v1/secrets/{name}": "manage",
  "GET /v1/whoami": "read",
  "GET /v1/sources": "read",
  "GET /v1/statistics": "read",
  "GET /v1/statistics/series": "read",
  "POST /v1/tenants": "platform",
  "GET /v1/tenants": "platform",
  "GET /v1/tenants/{tenant_id}": "platform",
  "PATCH /v1/tenants/{tenant_id}": "platform",
  "DELETE /v1/tenants/{tenant_id}": "platform",
  "POST /v1/tenants/{tenant_id}/pause": "platform",
  "POST /v1/tenants/{tenant_id}/resume": "platform",
  "POST /v1/tenants/{tenant_id}/keys": "platform",
  "GET /v1/users": "read",
  "GET /v1/users/{user_id}": "read",
  "DELETE /v1/users/{user_id}/keys": "manage"
} as const;
