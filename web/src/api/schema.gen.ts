// Requests and responses of the API. Rendered from src/rota/api by `make generate`; do not edit.

/** One rule or route that differs from its declaration. */
export interface AlertChangeView {
  "thing": "route" | "rule";
  "action": "create" | "prune" | "update";
  "name": string;
  "version": number;
  "fields": Array<FieldChange>;
}

/** How violations are reported. */
export interface AlertDraft {
  /** Name of a route or a channel. Default: the default channels. */
  "to"?: string | null;
  /** How urgent an incident is; `page` may wake people. Default: `warning`. */
  "severity"?: "info" | "page" | "warning" | null;
  /** How long a violation must last before an incident opens, at most a day. Default: 0 s. */
  "for"?: string | null;
  /** How many times in a row the condition must be met before the incident ends. Default: 1. */
  "clear"?: number | null;
  /** Whether a message is sent when the incident ends. Default: true. */
  "recovery"?: boolean | null;
}

export interface AllTenantsQuery {
  /** Act for all tenants; `true` requires a platform key. Default: true for a platform key, false for other keys. */
  "all_tenants"?: boolean;
}

export interface ApplyDraft {
  /** Name of the project, stored in the label `rota.project`. */
  "project": string;
  /** All jobs of the project. */
  "jobs": Array<DeclaredJob>;
  /** Calendars to create or replace; none is deleted. Default: none. */
  "calendars"?: Array<DeclaredCalendar>;
  /** All rules of the project. Default: none. */
  "alerts"?: Array<RuleDraft>;
  /** All routes of the project. Default: none. */
  "routes"?: Array<DeclaredRoute>;
  /** Delete jobs, rules and routes of the project that are not declared. Default: `false`. */
  "prune"?: boolean;
  /** `seen` of the plan; refused if a job has changed since. Default: not checked. */
  "seen"?: Record<string, number> | null;
  /** `seen_calendars` of the plan; refused if a calendar has changed since. Default: not checked. */
  "seen_calendars"?: Record<string, number> | null;
  /** `seen_alerts` of the plan; refused if a rule or a route has changed since. Default: not checked. */
  "seen_alerts"?: Record<string, number> | null;
}

/** Warns before `finish_by` is missed. */
export interface AtRiskDraft {
  /** Warn if the probability of finishing in time is below this. Default: 20%. */
  "probability"?: number | string;
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
  "traceback": Array<TracebackError> | null;
}

export interface Attempts {
  "data": Array<AttemptView>;
}

export interface AuditQuery {
  /** Filter by type of object: `job`, `run`, `key` and so on. Default: all. */
  "thing"?: string | null;
  /** Filter by id or name of the object. Default: all. */
  "thing_id"?: string | null;
  /** Filter by author. Default: all. */
  "actor"?: string | null;
  /** Filter by action, such as `job.pause`. Default: all. */
  "action"?: string | null;
  /** At or after this time. Default: any. */
  "since"?: string | null;
  /** Before this time. Default: any. */
  "until"?: string | null;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** One entry of the audit log. `source` is the client's address. `origin` is the means of the change: `code` (an app that declares jobs), `file` (`rota apply`), `import`, `cli`, `dashboard`, `api`, or `transaction` (`rota.in_transaction`); null for entries of earlier releases. */
export interface AuditView {
  "id": number;
  "at": string;
  "actor": string;
  "key_id": string | null;
  "source": string | null;
  "origin": string | null;
  "action": string;
  "thing": string;
  "thing_id": string;
  "before": unknown;
  "after": unknown;
  "request_id": string | null;
}

/** Waiting runs are cancelled. Running ones may finish, or are asked to stop. */
export interface BackfillCancel {
  /** What happens to running runs. Default: `finish`. */
  "running"?: "cancel" | "finish";
  /** Reason, shown with the backfill. Default: none. */
  "reason"?: string | null;
}

/** The counts: `ticks` is the sum of `ran`, `alive`, `failed` and `missing`; `new` ticks get a run. `estimated`: the range was too long to check each tick. `undecided` ticks are left to the scheduler. `takes` is the expected duration, if the job has run before. */
export interface BackfillEstimate {
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

/** Ticks from `since` on and before `until`, any number. Their runs are created step by step. `missing` ticks never ran, or their runs were cancelled. All runs of `failed` ticks failed. A tick with an active run is skipped. */
export interface BackfillPlan {
  /** Start of the range (inclusive). */
  "since": string;
  /** End of the range (exclusive); not in the future. */
  "until": string;
  /** Which ticks to run: those that never ran, those whose runs failed, or all. Default: `missing`. */
  "only"?: "all" | "failed" | "missing";
  /** Which ticks run first. Default: `oldest`. */
  "order"?: "newest" | "oldest";
  /** Maximum concurrent runs of the backfill. Default: 4. */
  "at_once"?: number;
  /** Priority of the runs. Default: `low`. */
  "priority"?: number | "high" | "low" | "medium" | "normal" | null;
  /** Payload of the runs. Default: the job's payload. */
  "payload"?: unknown;
  /** Only count the ticks. Default: `false`. */
  "dry_run"?: boolean;
}

/** The state of a backfill. `ticks` were processed and `made` runs were created for them; `alive` of these have not ended; `left` runs are active or not created yet. `reached` is the time up to which ticks are processed, or down to which if the newest run first. */
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

export interface BackfillsQuery {
  "status"?: Array<"cancelled" | "cancelling" | "finished" | "paused" | "running">;
  /** Filter by job. Default: all. */
  "job_id"?: string | null;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** Creates one run for several events. */
export interface BatchDocument {
  /** Number of events in a full batch. */
  "size": number;
  /** Time that a batch waits for more events, from 1 second to 7 days. */
  "within": string;
  /** Expression over `event`; events are grouped by its value. Default: one group for all events. */
  "key"?: string | null;
}

/** Runs that ended from `start` on. The percentiles of their waits are accurate to 5 %. */
export interface BucketView {
  "start": string;
  "runs": Record<string, number>;
  "mean_wait_s": number | null;
  "wait_p50_s": number | null;
  "wait_p99_s": number | null;
  "longest_wait_s": number | null;
  "mean_duration_s": number | null;
}

/** `matched` runs fit the filter, this call changed `done`, and `token` is for the next call. */
export interface BulkActionResult {
  "matched": number;
  "done": number;
  "token": string | null;
}

/** Send a dry run first, which returns the count and a token; then repeat it with the token. */
export interface BulkDraft {
  /** Selects runs; at least one field is required. */
  "filter": BulkFilter;
  /** Only count, and return a confirmation token. Default: `false`. */
  "dry_run"?: boolean;
  /** Token of a dry run with the same filter; required unless `dry_run`. Default: none. */
  "token"?: string | null;
}

/** Selects runs. At least one field is required. */
export interface BulkFilter {
  /** Filter by job. Default: all. */
  "job_id"?: string | null;
  /** Filter by kind. Default: all. */
  "kind"?: string | null;
  /** Filter by queue. Default: all. */
  "queue"?: string | null;
  "error"?: string | null;
  /** Filter dead letters by error fingerprint. Default: all. */
  "fingerprint"?: string | null;
  /** Ended at or after this time; unfinished runs: created. Default: any. */
  "since"?: string | null;
  /** Ended before this time; unfinished runs: created. Default: any. */
  "until"?: string | null;
}

/** A job with many ticks. `is_estimate`: it has too many ticks to compute each. Cron and intervals are exact. */
export interface BusyJob {
  "job_id": string;
  "job_name": string;
  "ticks": number;
  "is_estimate": boolean;
}

export interface CalendarChangeView {
  "action": "create" | "update";
  "name": string;
  "version": number;
  "fields": Array<FieldChange>;
}

/** Windows in which no run starts, in one time zone. At least one window is required. */
export interface CalendarDocument {
  /** Name by which schedules refer to the calendar. Default: the name in the request path or in the file. */
  "name"?: string | null;
  /** IANA time zone of the windows. Default: UTC. */
  "timezone"?: string | null;
  /** Whole days, such as `2026-12-25`. Default: none. */
  "dates"?: Array<string> | null;
  /** Periods of local time. Default: none. */
  "ranges"?: Array<RangeDocument> | null;
  /** Periods of every week. Default: none. */
  "weekly"?: Array<WeeklyDocument> | null;
  /** Days of every year, such as `12-25`. Default: none. */
  "yearly"?: Array<string> | null;
  /** Windows that start at the times of an RRULE. Default: none. */
  "recurring"?: Array<RecurringDocument> | null;
}

/** A calendar; the path contains its name. */
export interface CalendarDraft {
  /** A calendar; see docs/reference/schedules.md. */
  "calendar": CalendarDocument;
}

export interface CalendarView {
  "name": string;
  "calendar": Record<string, unknown>;
  "version": number;
  "updated_at": string;
}

/** With `force` the run ends immediately; its worker's result is rejected. */
export interface CancelDraft {
  /** Reason, shown with the run. Default: none. */
  "reason"?: string | null;
  /** End the run now without waiting for its worker. Default: `false`. */
  "force"?: boolean;
}

/** Which overdue ticks still run. */
export type CatchUp = "all" | "once" | "skip";

/** One job that differs from its declaration. `next_before` and `next_after` are its next ticks; `note` says why they are unknown. */
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
  "touched": ManualChangeView | null;
}

/** One changed field, by its path. `is_shown` is false for payloads and for long values: the log records only that they changed. */
export interface ChangedFieldView {
  "field": string;
  "before": unknown;
  "after": unknown;
  "is_shown": boolean;
}

export interface ChannelList {
  "data": Array<ChannelView>;
}

/** A channel that a process reported. Its address is never shown. */
export interface ChannelView {
  "name": string;
  "kind": string;
  /** Whether it gets messages of expectations without a route. */
  "is_default": boolean;
  /** `ok` or `failing`. `unknown`: no process has reported the channel for 5 minutes. */
  "health": string;
  "recovery": boolean;
  "minimum_severity": string;
  "last_sent_at": string | null;
  "failing_since": string | null;
  "last_error": string | null;
  "reported_at": string;
}

/** A new hook with its secret, which is shown only once. */
export interface CreatedHook {
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

/** A created job. `run_id` is the run of a job that runs at once. `deduplicated`: the uniqueness rule found an existing job or run, and none was created. */
export interface CreatedJob {
  "job_id": string;
  "run_id": string | null;
  "deduplicated": boolean;
  "next_run_at": string | null;
  "name": string;
  "status": string;
  "warnings": Array<string>;
}

export interface CreatedJobs {
  "jobs": Array<CreatedJob>;
}

/** A new key with its secret, which is shown only once. */
export interface CreatedKey {
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

/** A new ping with its URL, which is shown only once. */
export interface CreatedPing {
  "ping_id": string;
  "name": string;
  /** The first characters of the token in the URL. */
  "handle": string;
  /** `new`: no signal yet. `up`, `down`: by the last check. `running`: work has begun and not ended. */
  "state": string;
  /** When a success is expected. */
  "schedule": Record<string, unknown>;
  "grace": string;
  "alert": Record<string, unknown>;
  "version": number;
  "created_at": string;
  "pinged_at": string | null;
  "succeeded_at": string | null;
  "failed_at": string | null;
  /** When a missing success becomes an incident. Default: null. */
  "overdue_at": string | null;
  /** Path of the URL; prepend the address of the API. */
  "ping_url": string;
}

/** An endpoint with its secret, which is shown only once. */
export interface CreatedWebhook {
  "webhook_id": string;
  "name": string;
  "url": string;
  "events": Array<string>;
  "filter": WebhookFilter;
  "include": Array<string>;
  "format": "cloudevents" | "standard";
  "allow_http": boolean;
  "state": "disabled" | "enabled";
  "disabled_reason": "failing" | "gone" | "manual" | null;
  "disabled_at": string | null;
  "failures": number;
  "failing_since": string | null;
  "last_success_at": string | null;
  "last_failure_at": string | null;
  "last_error": string | null;
  "pending": number;
  "held": number;
  "version": number;
  "former_secret_until": string | null;
  "created_at": string;
  "created_by": string;
  "updated_at": string;
  "warnings"?: Array<string>;
  "secret": string;
}

/** How a day-of-month and a day-of-week combine when both are given. */
export type DayMatch = "all" | "any";

/** One group, with its newest run in full. */
export interface DeadGroupDetail {
  "kind": string;
  "error_type": string;
  "message": string;
  "frame": string | null;
  "fingerprint": string;
  "count": number;
  "first_seen": string;
  "last_seen": string;
  "counts_per_hour": Array<number>;
  "versions": Array<number>;
  "jobs": Array<DeadGroupJob>;
  "job_count": number;
  "sample_run_id": string;
  "sample": RunDetail;
  "since": string;
  "until": string;
  "is_partial": boolean;
}

/** A job in the group and the number of its runs there. All one-time submissions share one entry without id and name. */
export interface DeadGroupJob {
  "job_id": string | null;
  "job_name": string | null;
  "count": number;
}

export interface DeadGroupQuery {
  /** Filter by job. Default: all jobs and one-time submissions. */
  "job_id"?: string | null;
  /** Ended at or after this time. Default: 30 days ago. */
  "since"?: string | null;
  /** Ended before this time. Default: now. */
  "until"?: string | null;
}

/** Dead letters of one task with the same error: the same type, the same message apart from numbers and ids, and the same innermost frame of the user's code. `message` is the newest one. `frame` is `module:function`; null if the task runs no Python code of the user. `counts_per_hour` covers the 24 hours before `until`, oldest first. `versions` are the definition versions of the jobs. `jobs` lists up to five jobs with the most failures; `job_count` is the number of all. List, requeue, edit and drop select exactly this group with the filter `kind`, `fingerprint`, `since` and `until`. */
export interface DeadGroupView {
  "kind": string;
  "error_type": string;
  "message": string;
  "frame": string | null;
  "fingerprint": string;
  "count": number;
  "first_seen": string;
  "last_seen": string;
  "counts_per_hour": Array<number>;
  "versions": Array<number>;
  "jobs": Array<DeadGroupJob>;
  "job_count": number;
  "sample_run_id": string;
}

/** Groups of dead letters that ended from `since` on and before `until`. `is_partial`: only the newest are grouped; `count` and `first_seen` exclude older ones. */
export interface DeadGroups {
  "data": Array<DeadGroupView>;
  "since": string;
  "until": string;
  "is_partial": boolean;
}

export interface DeadGroupsQuery {
  /** Filter by job. Default: all jobs and one-time submissions. */
  "job_id"?: string | null;
  /** Ended at or after this time. Default: 30 days ago. */
  "since"?: string | null;
  /** Ended before this time. Default: now. */
  "until"?: string | null;
  /** Filter by task. Default: all. */
  "kind"?: string | null;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
}

/** How many new dead letters with the same error are too many. */
export interface DeadLettersDraft {
  /** Number of dead letters. Default: 1. */
  "count"?: number;
  /** Within this time, at most 30 days. Default: 1 hour. */
  "over"?: string | null;
}

export interface DeadLettersQuery {
  "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success">;
  /** Filter by job. Default: all. */
  "job_id"?: string | null;
  /** Filter by kind. Default: all. */
  "kind"?: string | null;
  /** Filter by queue. Default: all. */
  "queue"?: string | null;
  /** Filter by the worker of the last attempt: its id or name. Default: all. */
  "worker_id"?: string | null;
  /** Filter by graph run: its steps. Default: all. */
  "graph_run_id"?: string | null;
  /** Created at or after this time. Default: any. */
  "created_after"?: string | null;
  /** Created before this time. Default: any. */
  "created_before"?: string | null;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
  /** Filter by error fingerprint. Default: all. */
  "fingerprint"?: string | null;
  /** Ended at or after this time. Default: any. */
  "ended_after"?: string | null;
  /** Ended before this time. Default: any. */
  "ended_before"?: string | null;
}

/** Creates one run, with the latest event, when no further event has arrived for `quiet`. */
export interface DebounceDocument {
  /** Time without another event before the run, from 1 second to 7 days. */
  "quiet": string;
  /** Maximum delay after the first event, up to 7 days. Default: 10 times `quiet`, at most 7 days. */
  "most"?: string | null;
  /** Expression over `event`; events are grouped by its value. Default: one group for all events. */
  "key"?: string | null;
}

export interface DeclaredCalendar {
  /** Name that schedules refer to. */
  "name": string;
  /** A calendar; see docs/reference/schedules.md. */
  "calendar": CalendarDocument;
}

/** A job declared in a file. An omitted field has its default. A job without a schedule runs on demand. `none` removes a limit; null is an empty YAML field. */
export interface DeclaredJob {
  /** Identifies the job; a new name creates a new job. */
  "name": string;
  /** Handler that runs the job. Default: the job's name. */
  "kind"?: string;
  /** Alternative to `kind` that also accepts the names of other schedulers, such as `HTTP_REQUEST`. Default: `kind`. */
  "job_type"?: string;
  /** When the job runs (docs/reference/schedules.md). Default: once, immediately. */
  "schedule"?: ScheduleDocument;
  /** Type of the schedule; the request is rejected if the schedule has another type. Default: derived from the schedule. */
  "schedule_type"?: "CRON" | "DELAYED" | "EVENT" | "FUTURE" | "IMMEDIATE" | "INTERVAL" | "MIXED" | "ON_DEMAND" | "RRULE";
  /** Run once, at this time. Shorthand for `schedule.at`. Default: none. */
  "schedule_time"?: string;
  /** Run at the times of this cron expression. Shorthand for `schedule.cron`. Default: none. */
  "cron_expression"?: string;
  /** IANA time zone of `schedule_time` and `cron_expression`. Default: UTC. */
  "timezone"?: string;
  /** Arguments of the handler, any JSON. Default: null. */
  "payload"?: unknown;
  /** Steps of a job of kind `graph` (docs/howto/graphs.md). Default: null. */
  "graph"?: GraphDocument | null;
  /** Retries after the first attempt. Shorthand for `retries.max`. Default: 3. */
  "max_retries"?: number;
  /** How a failed run is retried: the number of retries after the first attempt, or an object with delays. Default: 3. */
  "retries"?: number | RetriesDraft;
  /** Time limit of one attempt, at most 24 hours; `none` removes it. Default: 15 minutes. */
  "timeout"?: string;
  /** Time limit of the whole run, from its due time; `none` removes it. Default: `none`. */
  "deadline"?: string;
  /** Time between asking an attempt to stop and killing it, at most 10 minutes. Default: 10 s. */
  "grace"?: string;
  /** Delivery guarantee if a worker is lost. `exactly_once` needs a handler that completes its run in `ctx.transaction()`; other kinds reject it. Default: `at_least_once`. */
  "guarantee"?: "at_least_once" | "at_most_once" | "exactly_once";
  /** Service that the attempts depend on. While it is down, runs wait instead of using up their retries. `none`, or null in JSON, restores the default. Default: the host (http) or connection (sql), if the kind has one. */
  "target"?: string | null;
  /** Queue that its runs wait in. Default: `default`. */
  "queue"?: string;
  /** Priority from 0 (first) to 9 (last), or high, medium, normal, low. Default: 5. */
  "priority"?: number | "high" | "low" | "medium" | "normal";
  /** What to do when the job is due and its previous run is still active. Default: `skip`. */
  "overlap"?: "allow" | "cancel_running" | "queue_all" | "queue_one" | "skip" | "terminate_running";
  /** With overlap `queue_one`: keep the waiting run and skip the new one. Default: false. */
  "keep_first"?: boolean;
  /** What to do when the job is due while its queue is paused. Default: `skip`. */
  "when_queue_paused"?: "accumulate" | "skip";
  /** Concurrency and rate limits, shared by all runs with the same key. Default: none. */
  "limits"?: Array<LimitDraft>;
  /** Your own names and values, to filter jobs by. Default: none. */
  "labels"?: Record<string, string>;
  /** Owner of the job, for your own records. Default: null. */
  "user_id"?: string | null;
  /** What the job does, at most 1,000 characters. Default: null. */
  "description"?: string | null;
  /** What must hold for its runs; a violation opens an incident (docs/howto/alerts.md). Default: null. */
  "expect"?: ExpectDraft | null;
  /** How incidents of the job are reported. Default: as a warning, to the default channels. */
  "alert"?: AlertDraft | null;
  /** Whether the job is paused. Default: unchanged. */
  "paused"?: boolean;
}

export interface DeclaredRoute {
  /** Name that alerts report to. */
  "name": string;
  /** Steps in order. */
  "steps": Array<RouteStepDraft>;
}

export interface DeleteQuery {
  /** What happens to running runs: `cancel` asks their workers to stop them, `keep` lets them finish (`leave` is an older name for it). Default: `cancel`. */
  "running"?: "cancel" | "keep" | "leave";
}

export interface DeliveriesQuery {
  /** Filter by state. Default: `all`. */
  "state"?: "all" | "delivered" | "dropped" | "failed" | "held" | "pending";
  /** Filter by event type. Default: all. */
  "type"?: string | null;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

export interface DeliveryAttempt {
  "at": string;
  "status": number | null;
  "error": string | null;
  "duration_ms": number;
}

/** Adds the request body, the beginning of the last response, and the last 20 attempts. */
export interface DeliveryDetails {
  "delivery_id": string;
  "event_id": string;
  "type": string;
  "state": "delivered" | "dropped" | "failed" | "held" | "pending" | "sending";
  "attempts": number;
  "next_attempt_at": string | null;
  "created_at": string;
  "finished_at": string | null;
  "status": number | null;
  "error": string | null;
  "content_type": string;
  "body": unknown;
  "response": string | null;
  "history": Array<DeliveryAttempt>;
}

/** One event for one endpoint. `event_id` is the `webhook-id` of its requests. `status` and `error` are those of the last attempt. */
export interface DeliveryView {
  "delivery_id": string;
  "event_id": string;
  "type": string;
  "state": "delivered" | "dropped" | "failed" | "held" | "pending" | "sending";
  "attempts": number;
  "next_attempt_at": string | null;
  "created_at": string;
  "finished_at": string | null;
  "status": number | null;
  "error": string | null;
}

/** The demand of a queue: how many slots it could use. */
export interface DemandView {
  "queue": string;
  /** The sum of the other counts. */
  "demand": number;
  /** Runs that wait for a worker. 0 while the queue is paused; at most 200,000. */
  "ready": number;
  /** Runs that hold a slot. */
  "running": number;
  /** Ticks, submissions and retries that become ready within 60 seconds. 0 while the queue is paused. */
  "upcoming": number;
}

export interface DepthView {
  "queue": string;
  "waiting": number;
  "oldest_wait_s": number | null;
}

/** How local times are handled when the clock changes for daylight saving. */
export interface DstDocument {
  /** A local time that the clock skips: `run_after` runs it at the first instant after the gap, `shift` runs it later by the length of the gap, `skip` does not run it. Default: run_after. */
  "gap"?: DstGap | null;
  /** Which tick runs when a local time occurs twice. Default: first. */
  "overlap"?: DstOverlap | null;
}

/** What happens to a local time that the clock jumps over. */
export type DstGap = "run_after" | "shift" | "skip";

/** Which of two equal local times runs when the clock is set back. */
export type DstOverlap = "both" | "first" | "second";

/** Adds a change of the payloads. Each dead letter becomes a new run and is dropped. */
export interface EditManyDraft {
  /** Selects runs; at least one field is required. */
  "filter": BulkFilter;
  /** Only count, and return a confirmation token. Default: `false`. */
  "dry_run"?: boolean;
  /** Token of a dry run with the same filter; required unless `dry_run`. Default: none. */
  "token"?: string | null;
  /** Maximum starts per minute. Default: all at once. */
  "per_minute"?: number | null;
  /** Runs that earlier calls requeued at the same rate. Default: 0. */
  "before"?: number;
  /** JSON merge patch (RFC 7396) for the payload of each run: its fields replace those of the payload; null removes a field. Required unless `dry_run`. Default: `{}`. */
  "patch"?: Record<string, unknown>;
}

/** `matched` deliveries were held, `done` of them were changed, and `token` confirms. */
export interface EnabledWebhook {
  "webhook": WebhookView;
  "matched": number;
  "done": number;
  "token": string | null;
}

export interface EventDraft {
  /** Where the event comes from. Default: `api`. */
  "source"?: string;
  /** Id of the event; an event with the same source and id is a duplicate. Default: a new id. */
  "id"?: string;
  /** Time in RFC 3339, such as 2026-07-01T12:00:00Z. */
  "time"?: string;
  /** What the event is about. Default: none. */
  "subject"?: string;
  /** Event data, any JSON. Default: null. */
  "data"?: unknown;
  /** What happened, such as `order.paid`. */
  "type": string;
}

/** Selects events. At least one field is required. */
export interface EventFilter {
  /** Filter by type. Default: all. */
  "type"?: string | null;
  /** Filter by source. Default: all. */
  "source"?: string | null;
  /** Received at or after this time. Default: any. */
  "since"?: string | null;
  /** Received before this time. Default: any. */
  "until"?: string | null;
  /** Match this job only. Default: all jobs that wait for the type. */
  "job_id"?: string | null;
}

/** Matches events of a type, or of all types below it, for which `where` is true. */
export interface EventMatchDocument {
  /** Event type: `order.paid`, `order.*` for every type below `order`, or `*` for all. */
  "type": string;
  /** Expression over `event` that must be true. Default: every event of the type matches. */
  "where"?: string | null;
}

/** One accepted event. A `duplicate` was received before and creates no runs. `run_ids` are the runs that contain the event; a run that collects several events does not exist yet. */
export interface EventReceipt {
  "event_id": string;
  "source": string;
  "id": string;
  "duplicate": boolean;
  "run_ids": Array<string>;
}

export interface EventReceipts {
  "taken": number;
  "duplicates": number;
  "events": Array<EventReceipt>;
}

/** `matched` events fit the filter, `done` were replayed, and `runs` were created at once. */
export interface EventReplayResult {
  "matched": number;
  "done": number;
  "runs": number;
  "token": string | null;
}

/** A received event. `attributes` are its CloudEvents extension attributes. */
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
  /** Where the event comes from. Default: `api`. */
  "source"?: string;
  /** Id of the event; an event with the same source and id is a duplicate. Default: a new id. */
  "id"?: string;
  /** Time in RFC 3339, such as 2026-07-01T12:00:00Z. */
  "time"?: string;
  /** What the event is about. Default: none. */
  "subject"?: string;
  /** Event data, any JSON. Default: null. */
  "data"?: unknown;
  /** What happened, such as `order.paid`. Default: none; then `events` is required. */
  "type"?: string;
  /** Several events; all of them are accepted, or none. Default: the single event in the other fields. */
  "events"?: Array<EventDraft>;
}

export interface EventsQuery {
  /** Filter by type. Default: all. */
  "type"?: string | null;
  /** Filter by source. Default: all. */
  "source"?: string | null;
  /** Received at or after this time. Default: any. */
  "since"?: string | null;
  /** Received before this time. Default: any. */
  "until"?: string | null;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** Send a dry run first, which returns the count and a token; then repeat it with the token. */
export interface EventsReplayDraft {
  /** Selects events; at least one field is required. */
  "filter": EventFilter;
  /** Only count, and return a confirmation token. Default: `false`. */
  "dry_run"?: boolean;
  /** Token of a dry run with the same filter; required unless `dry_run`. Default: none. */
  "token"?: string | null;
}

/** Fires at a fixed rate, start to start: at anchor + n · interval. */
export interface EveryDocument {
  /** Time between two ticks, at least 1 second. */
  "interval": string;
  /** Instant from which ticks are counted. Default: the start of `window`, or the second in which the schedule is saved. */
  "anchor"?: string | null;
}

export interface ExecutionsQuery {
  /** Id or name of a worker. */
  "worker_id": string;
  "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success">;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** What must hold for the runs of a job. Each field is a condition of its own. */
export interface ExpectDraft {
  /** Each tick's run starts within this time after its tick. Default: none. */
  "start_within"?: string | null;
  /** Each tick's run succeeds by this time of day in the job's zone, the first one after the tick (`06:00`), or within a duration after the tick (`+3h30m`). Default: none. */
  "finish_by"?: string | null;
  /** Warn before `finish_by` is missed. Default: false. */
  "at_risk"?: boolean | AtRiskDraft | null;
  /** The newest successful tick is at most this old; must not be shorter than the longest gap between two ticks. Default: none. */
  "succeed_every"?: string | null;
  /** A run lasts at most this long, or a multiple of its own history. Default: none. */
  "max_duration"?: string | MaxDurationDraft | null;
  /** Failures in a row, or share of failures. Default: none. */
  "failures"?: FailuresDraft | null;
  /** New dead letters with the same error. Default: none. */
  "dead_letters"?: number | DeadLettersDraft | null;
  /** Missed ticks in a row. Default: none. */
  "missed_ticks"?: number | null;
}

/** A change of a rule: only the fields to change. Null restores the default. */
export interface ExpectationEdit {
  /** New name. Default: unchanged. */
  "name"?: string;
  /** The condition; exactly one field. Default: unchanged. */
  "when"?: RuleCondition;
  /** What the rule applies to. Default: unchanged. */
  "match"?: SubjectMatch;
  /** Name of a route or a channel. Default: unchanged. */
  "to"?: string | null;
  /** How urgent an incident is. Default: unchanged. */
  "severity"?: "info" | "page" | "warning" | null;
  /** How long a violation must last before an incident opens. Default: unchanged. */
  "for"?: string | null;
  /** How many times in a row the condition must be met before the incident ends. Default: unchanged. */
  "clear"?: number | null;
  /** Whether a message is sent when the incident ends. Default: unchanged. */
  "recovery"?: boolean | null;
  /** Whether the rule is checked. Default: unchanged. */
  "enabled"?: boolean;
}

/** A rule. Durations are in ISO 8601. */
export interface ExpectationView {
  "expectation_id": string;
  "name": string;
  "match": Record<string, unknown>;
  "when": Record<string, unknown>;
  /** Route or channel; null: the default channels. */
  "to": string | null;
  "severity": string;
  "for": string;
  "clear": number;
  "recovery": boolean;
  "enabled": boolean;
  /** Project whose rota.yaml declares the rule; null: created by the API. */
  "project": string | null;
  "version": number;
  "created_at": string;
  "updated_at": string;
  /** What is probably a mistake. Empty in lists. */
  "warnings"?: Array<string>;
}

/** An external process that reports its run. */
export interface ExternalDraft {
  /** Name of the job; created with the kind `exec` if missing. */
  "job": string;
  /** Host on which the process runs. */
  "host": string;
  /** Description of the work. Default: none. */
  "payload"?: unknown;
  /** Labels of the job, if it is created. Default: none. */
  "labels"?: Record<string, string>;
}

export interface ExternalEnd {
  /** Output since the last report. Default: none. */
  "output"?: Array<OutputPiece>;
  /** 0 is success, any other value is a failure. */
  "exit_code": number;
  /** Error message. Default: the exit code. */
  "why"?: string | null;
}

/** A started run. It counts as lost after `lease_seconds` without a report. */
export interface ExternalRun {
  "job_id": string;
  "run_id": string;
  "lease_seconds": number;
  "log_url": string;
}

/** A heartbeat of an external run with its new output. */
export interface ExternalRunReport {
  /** Output since the last report. Default: none. */
  "output"?: Array<OutputPiece>;
}

/** `cancel`: a user requested cancellation; stop the process. */
export interface ExternalRunState {
  "run_id": string;
  "cancel": boolean;
  "status": string;
}

/** How many failures are too many: a streak, a rate, or both. */
export interface FailuresDraft {
  /** Alert at this many failed runs in a row. Default: no limit. */
  "streak"?: number | null;
  /** Alert at this share of failed runs. Default: no limit. */
  "rate"?: number | string | null;
  /** Window of `rate`, at most 30 days. Default: 1 hour. */
  "over"?: string | null;
  /** Judge `rate` only if this many runs ended in the window. Default: 20. */
  "at_least"?: number | null;
}

export interface FieldChange {
  "field": string;
  "before": unknown;
  "after": unknown;
}

/** Fires a fixed delay after the end of the previous run. */
export interface FixedDelayDocument {
  /** Time from the end of a run to the next one, at least 1 second. */
  "delay": string;
  /** Instant from which the first delay is counted. Default: the start of `window`, or the second in which the schedule is saved. */
  "anchor"?: string | null;
}

/** The steps of a job of kind `graph`. */
export interface GraphDocument {
  /** Steps of the graph, in any order. */
  "steps": Array<StepDocument>;
}

/** The graph of a job, as defined. */
export interface GraphView {
  "job_id": string;
  "graph": Record<string, unknown>;
}

export interface Health {
  "status": string;
}

/** A webhook endpoint. Senders sign their events and need no API key. */
export interface HookDraft {
  /** Unique in the tenant. The source of its events is `hooks/` and this name. */
  "name": string;
  /** Type of its events. */
  "type": string;
  /** How requests are signed: Standard Webhooks, or X-Hub-Signature-256 (`github`). Default: `standard`. */
  "style"?: "github" | "standard";
  /** A secret chosen by the sender. Default: a random one. */
  "secret"?: string | null;
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

/** A change of an incident. */
export interface IncidentAction {
  /** A comment for the thread. Default: none. */
  "note"?: string | null;
}

/** The violated expectation, the worst if there are several. */
export interface IncidentExpectation {
  "id": string;
  "name": string;
}

/** A comment that is added to the thread of an incident. */
export interface IncidentNote {
  /** The comment. */
  "text": string;
}

/** A message about an incident. */
export interface IncidentNotification {
  "notification_id": string;
  "channel": string;
  "kind": string;
  "state": string;
  "created_at": string;
  "sent_at": string | null;
  "attempts": number;
  "error": string | null;
}

export interface IncidentQuery {
  /** Filter by state; `silenced` are open ones whose messages a silence holds back. Default: all. */
  "state"?: "acknowledged" | "open" | "resolved" | "silenced" | null;
  /** Filter by severity. Default: all. */
  "severity"?: "info" | "page" | "warning" | null;
  /** Filter by the id of a job. Default: all. */
  "job"?: string | null;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** What an incident is about. */
export interface IncidentSubject {
  "kind": string;
  "id": string;
  "name": string;
}

/** An incident. `thread` and `notifications` are present for a single incident only. */
export interface IncidentView {
  "incident_id": string;
  "title": string;
  "condition": string;
  /** `info`, `warning` or `page`. */
  "severity": string;
  /** `open`, `acknowledged` or `resolved`. */
  "state": string;
  "subject": IncidentSubject;
  "job_id": string | null;
  "run_id": string | null;
  "opened_at": string;
  "last_seen_at": string;
  "acknowledged_at": string | null;
  "acknowledged_by": string | null;
  "resolved_at": string | null;
  "resolved_by": string | null;
  /** Why the incident ended. */
  "resolution": string | null;
  /** How many bad runs the incident stands for. */
  "count": number;
  "silenced_until": string | null;
  "is_flapping": boolean;
  /** Code of the cause that explains the incident; no message names it. */
  "inhibited_by": string | null;
  /** Whether it is about the installation; only platform keys see it. */
  "is_platform": boolean;
  "expectation": IncidentExpectation;
  "facts": Record<string, unknown>;
  "thread"?: Array<ThreadEntryView> | null;
  "notifications"?: Array<IncidentNotification> | null;
}

/** Delays ticks, so that jobs with the same schedule do not all start at one instant. */
export interface JitterDocument {
  /** Upper bound of the delay of a tick, from 1 second to 1 day. */
  "window": string;
  /** Use the same delay for all ticks of the job. Default: false. */
  "stable"?: boolean | null;
}

/** One change of a job: author, time, origin and the changed fields. `origin` is `code` (an app that declares jobs), `file` (`rota apply`), `import`, `cli`, `dashboard`, `api`, or `transaction` (`rota.in_transaction`); null for changes by earlier releases. `version` is the job's version after the change; null if unknown. `details` contains other facts, such as the reason of a pause. */
export interface JobChangeView {
  "id": number;
  "at": string;
  "author": string;
  "origin": string | null;
  "action": string;
  "version": number | null;
  "changes": Array<ChangedFieldView>;
  "details": Record<string, unknown>;
}

/** Jobs of one status. `next_fire_time` is the earliest next tick; null if none fires again. */
export interface JobCountView {
  "status": string;
  "count": number;
  "next_fire_time": string | null;
}

export interface JobCountsView {
  "data": Array<JobCountView>;
  /** False if only the newest jobs were counted. */
  "is_complete": boolean;
}

/** A new job. `kind` defaults to the name; a job without a name gets a generated one. */
export interface JobDraft {
  /** Name of the job; unique in the tenant among jobs that are not deleted. Default: a name that begins with the kind. */
  "name"?: string;
  /** Handler that runs the job. Default: the job's name. */
  "kind"?: string;
  /** Alternative to `kind` that also accepts the names of other schedulers, such as `HTTP_REQUEST`. Default: `kind`. */
  "job_type"?: string;
  /** When the job runs (docs/reference/schedules.md). Default: once, immediately. */
  "schedule"?: ScheduleDocument;
  /** Type of the schedule; the request is rejected if the schedule has another type. Default: derived from the schedule. */
  "schedule_type"?: "CRON" | "DELAYED" | "EVENT" | "FUTURE" | "IMMEDIATE" | "INTERVAL" | "MIXED" | "ON_DEMAND" | "RRULE";
  /** Run once, at this time. Shorthand for `schedule.at`. Default: none. */
  "schedule_time"?: string;
  /** Run at the times of this cron expression. Shorthand for `schedule.cron`. Default: none. */
  "cron_expression"?: string;
  /** IANA time zone of `schedule_time` and `cron_expression`. Default: UTC. */
  "timezone"?: string;
  /** Arguments of the handler, any JSON. Default: null. */
  "payload"?: unknown;
  /** Steps of a job of kind `graph` (docs/howto/graphs.md). Default: null. */
  "graph"?: GraphDocument | null;
  /** Retries after the first attempt. Shorthand for `retries.max`. Default: 3. */
  "max_retries"?: number;
  /** How a failed run is retried: the number of retries after the first attempt, or an object with delays. Default: 3. */
  "retries"?: number | RetriesDraft;
  /** Time limit of one attempt, at most 24 hours. `none`, or null in JSON, means no limit. Default: 15 minutes. */
  "timeout"?: string | null;
  /** Time limit of the whole run with all its retries, counted from its due time. `none`, or null in JSON, means no limit. Default: no limit. */
  "deadline"?: string | null;
  /** Time between asking an attempt to stop and killing it, at most 10 minutes. Default: 10 s. */
  "grace"?: string;
  /** Delivery guarantee if a worker is lost. `exactly_once` needs a handler that completes its run in `ctx.transaction()`; other kinds reject it. Default: `at_least_once`. */
  "guarantee"?: "at_least_once" | "at_most_once" | "exactly_once";
  /** Service that the attempts depend on. While it is down, runs wait instead of using up their retries. `none`, or null in JSON, restores the default. Default: the host (http) or connection (sql), if the kind has one. */
  "target"?: string | null;
  /** Queue that its runs wait in. Default: `default`. */
  "queue"?: string;
  /** Priority from 0 (first) to 9 (last), or high, medium, normal, low. Default: 5. */
  "priority"?: number | "high" | "low" | "medium" | "normal";
  /** What to do when the job is due and its previous run is still active. Default: `skip`. */
  "overlap"?: "allow" | "cancel_running" | "queue_all" | "queue_one" | "skip" | "terminate_running";
  /** With overlap `queue_one`: keep the waiting run and skip the new one. Default: false. */
  "keep_first"?: boolean;
  /** What to do when the job is due while its queue is paused. Default: `skip`. */
  "when_queue_paused"?: "accumulate" | "skip";
  /** Concurrency and rate limits, shared by all runs with the same key. Default: none. */
  "limits"?: Array<LimitDraft>;
  /** Your own names and values, to filter jobs by. Default: none. */
  "labels"?: Record<string, string>;
  /** Owner of the job, for your own records. Default: null. */
  "user_id"?: string | null;
  /** What the job does, at most 1,000 characters. Default: null. */
  "description"?: string | null;
  /** What must hold for its runs; a violation opens an incident (docs/howto/alerts.md). Default: null. */
  "expect"?: ExpectDraft | null;
  /** How incidents of the job are reported. Default: as a warning, to the default channels. */
  "alert"?: AlertDraft | null;
  /** Deduplicates submissions with the same key. Default: no deduplication. */
  "unique"?: UniqueDraft;
}

/** Jobs to create together: all or none. */
export interface JobDrafts {
  /** Jobs, each as in `POST /v1/jobs`. */
  "jobs": Array<JobDraft>;
}

/** A job update: only the fields to change. */
export interface JobEdit {
  /** Name of the job; unique in the tenant among jobs that are not deleted. Default: a name that begins with the kind. */
  "name"?: string;
  /** Handler that runs the job. Default: the job's name. */
  "kind"?: string;
  /** Alternative to `kind` that also accepts the names of other schedulers, such as `HTTP_REQUEST`. Default: `kind`. */
  "job_type"?: string;
  /** When the job runs (docs/reference/schedules.md). Default: once, immediately. */
  "schedule"?: ScheduleDocument;
  /** Type of the schedule; the request is rejected if the schedule has another type. Default: derived from the schedule. */
  "schedule_type"?: "CRON" | "DELAYED" | "EVENT" | "FUTURE" | "IMMEDIATE" | "INTERVAL" | "MIXED" | "ON_DEMAND" | "RRULE";
  /** Run once, at this time. Shorthand for `schedule.at`. Default: none. */
  "schedule_time"?: string;
  /** Run at the times of this cron expression. Shorthand for `schedule.cron`. Default: none. */
  "cron_expression"?: string;
  /** IANA time zone of `schedule_time` and `cron_expression`. Default: UTC. */
  "timezone"?: string;
  /** Arguments of the handler, any JSON. Default: null. */
  "payload"?: unknown;
  /** Steps of a job of kind `graph` (docs/howto/graphs.md). Default: null. */
  "graph"?: GraphDocument | null;
  /** Retries after the first attempt. Shorthand for `retries.max`. Default: 3. */
  "max_retries"?: number;
  /** How a failed run is retried: the number of retries after the first attempt, or an object with delays. Default: 3. */
  "retries"?: number | RetriesDraft;
  /** Time limit of one attempt, at most 24 hours. `none`, or null in JSON, means no limit. Default: 15 minutes. */
  "timeout"?: string | null;
  /** Time limit of the whole run with all its retries, counted from its due time. `none`, or null in JSON, means no limit. Default: no limit. */
  "deadline"?: string | null;
  /** Time between asking an attempt to stop and killing it, at most 10 minutes. Default: 10 s. */
  "grace"?: string;
  /** Delivery guarantee if a worker is lost. `exactly_once` needs a handler that completes its run in `ctx.transaction()`; other kinds reject it. Default: `at_least_once`. */
  "guarantee"?: "at_least_once" | "at_most_once" | "exactly_once";
  /** Service that the attempts depend on. While it is down, runs wait instead of using up their retries. `none`, or null in JSON, restores the default. Default: the host (http) or connection (sql), if the kind has one. */
  "target"?: string | null;
  /** Queue that its runs wait in. Default: `default`. */
  "queue"?: string;
  /** Priority from 0 (first) to 9 (last), or high, medium, normal, low. Default: 5. */
  "priority"?: number | "high" | "low" | "medium" | "normal";
  /** What to do when the job is due and its previous run is still active. Default: `skip`. */
  "overlap"?: "allow" | "cancel_running" | "queue_all" | "queue_one" | "skip" | "terminate_running";
  /** With overlap `queue_one`: keep the waiting run and skip the new one. Default: false. */
  "keep_first"?: boolean;
  /** What to do when the job is due while its queue is paused. Default: `skip`. */
  "when_queue_paused"?: "accumulate" | "skip";
  /** Concurrency and rate limits, shared by all runs with the same key. Default: none. */
  "limits"?: Array<LimitDraft>;
  /** Your own names and values, to filter jobs by. Default: none. */
  "labels"?: Record<string, string>;
  /** Owner of the job, for your own records. Default: null. */
  "user_id"?: string | null;
  /** What the job does, at most 1,000 characters. Default: null. */
  "description"?: string | null;
  /** What must hold for its runs; a violation opens an incident (docs/howto/alerts.md). Default: null. */
  "expect"?: ExpectDraft | null;
  /** How incidents of the job are reported. Default: as a warning, to the default channels. */
  "alert"?: AlertDraft | null;
}

/** An expectation of a job: its own, a rule that matches it, or a default of Rota. */
export interface JobExpectationView {
  "expectation_id": string;
  "name": string;
  "origin": "default" | "job" | "rule";
  /** Code of the condition, such as `finish_by`. */
  "condition": string;
  "when": Record<string, unknown>;
  "to": string | null;
  "severity": string;
  /** `ok`, `pending` (violated, not yet for long enough), `firing`, or `unknown` while Rota cannot judge it. */
  "state": string;
  "since": string | null;
  /** Next check; null if the condition is checked when a run ends. */
  "next_check_at": string | null;
  /** Its open incident. */
  "incident_id": string | null;
}

export interface JobExpectations {
  "data": Array<JobExpectationView>;
}

/** The recent runs of a job, newest first. */
export interface JobOutcomes {
  "job_id": string;
  "runs": Array<OutcomeView>;
}

export interface JobStatus {
  "job_id": string;
  "status": string;
  "latest_run": LatestRunView | null;
  "explanation": string;
  /** When the next run will finish, if that can be predicted. */
  "prediction"?: string | null;
}

/** A job with its fields and its current state. */
export interface JobView {
  "job_id": string;
  "name": string;
  "kind": string;
  "schedule": Record<string, unknown> | null;
  "payload": unknown;
  /** Steps of the graph; null for other kinds, and in lists. */
  "graph": Record<string, unknown> | null;
  "retries": Record<string, unknown>;
  "timeout": string | null;
  "deadline": string | null;
  "grace": string;
  "guarantee": string;
  /** Target set on the job; null if none is set. */
  "target": string | null;
  "queue": string;
  "priority": number;
  "overlap": string;
  "keep_first": boolean;
  "when_queue_paused": string;
  "limits": Array<Record<string, unknown>>;
  "labels": Record<string, string>;
  "user_id": string | null;
  "description": string | null;
  "expect": Record<string, unknown> | null;
  "alert": Record<string, unknown> | null;
  "status": string;
  "schedule_type": "CRON" | "DELAYED" | "EVENT" | "FUTURE" | "IMMEDIATE" | "INTERVAL" | "MIXED" | "ON_DEMAND" | "RRULE";
  "cron_expression": string | null;
  "schedule_time": string | null;
  "timezone": string | null;
  "max_retries": number;
  "held": Record<string, unknown> | null;
  "next_run_at": string | null;
  "version": number;
  "created_at": string;
  "updated_at": string;
}

export interface JobsQuery {
  /** `definition` lists jobs that can run more than once, `one_time` lists one-time submissions, `all` lists both. Default: `all` if `status` includes `pending` or `running`, which refer to runs; otherwise `definition`. */
  "type"?: "all" | "definition" | "one_time";
  "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "active" | "cancelled" | "completed" | "deleted" | "enqueued" | "failed" | "finished" | "paused" | "pending" | "quarantined" | "retrying" | "running" | "scheduled" | "success">;
  /** Filter by user. Default: all. */
  "user_id"?: string | null;
  /** Filter by kind. Default: all. */
  "kind"?: string | null;
  /** Filter by queue. Default: all. */
  "queue"?: string | null;
  "label"?: string | null;
  "q"?: string | null;
  /** Created at or after this time. Default: any. */
  "created_after"?: string | null;
  /** Created before this time. Default: any. */
  "created_before"?: string | null;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** An API key to create. */
export interface KeyDraft {
  /** Purpose of the key. */
  "name": string;
  /** Role of the key; at most your own. */
  "role": "admin" | "operator" | "platform" | "viewer";
  /** User named in the audit log. Default: none; the log names the key. */
  "user_id"?: string | null;
  /** Lifetime, at most a year. Default: 90 days. */
  "lifetime"?: string | null;
}

/** A key without its secret, which cannot be shown again. */
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

/** The revoked keys. */
export interface KeysRevoked {
  "user_id": string;
  "key_ids": Array<string>;
}

/** A kind. `workers` is the number of live workers that serve it; `payload_schema` is its JSON Schema, if known. */
export interface KindView {
  "kind": string;
  "workers": number;
  "payload_schema": Record<string, unknown> | null;
}

export interface Kinds {
  "data": Array<KindView>;
}

export interface LatestRunView {
  "run_id": string;
  "status": string;
  "start_time": string | null;
  "modified_time": string;
  "attempt_number": number;
  "executor_id": string | null;
}

/** A limit shared by all runs with the same key. `{args.id}` in the key is replaced by the value in the payload. */
export interface LimitDraft {
  /** Runs with the same key share the limit; `{args.id}` is replaced by the value in the payload. */
  "key": string;
  /** Maximum number of concurrent runs. Default: no limit. */
  "max"?: number | null;
  /** Maximum number of starts per period. Default: no limit. */
  "rate"?: RateDraft | null;
}

/** Limits that all runs of a queue share; null removes a limit. */
export interface LimitsDraft {
  /** Maximum concurrent runs. Default: no limit. */
  "max"?: number | null;
  /** Maximum rate of starts. Default: no limit. */
  "rate"?: RateDraft | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_AuditView_ {
  "data": Array<AuditView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_BackfillProgress_ {
  "data": Array<BackfillProgress>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_CalendarView_ {
  "data": Array<CalendarView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_DeliveryView_ {
  "data": Array<DeliveryView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_EventView_ {
  "data": Array<EventView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_ExpectationView_ {
  "data": Array<ExpectationView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_HookView_ {
  "data": Array<HookView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_IncidentView_ {
  "data": Array<IncidentView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_JobChangeView_ {
  "data": Array<JobChangeView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_JobView_ {
  "data": Array<JobView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_KeyView_ {
  "data": Array<KeyView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_NotificationView_ {
  "data": Array<NotificationView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_PingView_ {
  "data": Array<PingView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_RouteView_ {
  "data": Array<RouteView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_RunView_ {
  "data": Array<RunView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_SecretView_ {
  "data": Array<SecretView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_SilenceView_ {
  "data": Array<SilenceView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_TaskItem_ {
  "data": Array<TaskItem>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_TenantView_ {
  "data": Array<TenantView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_UserView_ {
  "data": Array<UserView>;
  "next_cursor": string | null;
}

/** `next_cursor` is null on the last page. */
export interface ListPage_WebhookView_ {
  "data": Array<WebhookView>;
  "next_cursor": string | null;
}

export interface LoadPart {
  "start": string;
  "ticks": number;
}

/** A range of at most 35 days. */
export interface LoadQuery {
  /** Start of the range. Default: now. */
  "since"?: string | null;
  /** End of the range, at most 35 days after `since`. Default: a day after `since`. */
  "until"?: string | null;
  /** Bucket width; at most a week by minute. Default: `minute`. */
  "bucket"?: "hour" | "minute";
}

/** The upcoming ticks. `buckets` omits empty buckets. `unknown` jobs have a fixed delay after each run, so their ticks are not known. `is_estimate`: a job is an estimate, or there are more schedules than one response covers. */
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

/** A piece of output as written: several lines, or part of one. */
export interface LogLine {
  "attempt_number": number;
  "seq": number;
  "stream": string;
  "at": string;
  "text": string;
}

/** A page of output. Continue from `cursor`, even if there is no more output yet. */
export interface Logs {
  "data": Array<LogLine>;
  "cursor": string | null;
  "is_complete": boolean;
}

/** Selects a page of output, or a stream. */
export interface LogsQuery {
  /** `cursor` of the previous page. Default: the first page. */
  "after"?: string | null;
  /** Maximum pieces per page. Default: 500. */
  "limit"?: number;
  /** Return a stream of events until the run has ended. Default: `false`. */
  "follow"?: boolean;
}

/** All jobs of a project. */
export interface ManifestDraft {
  /** Name of the project, stored in the label `rota.project`. */
  "project": string;
  /** All jobs of the project. */
  "jobs": Array<DeclaredJob>;
  /** Calendars to create or replace; none is deleted. Default: none. */
  "calendars"?: Array<DeclaredCalendar>;
  /** All rules of the project. Default: none. */
  "alerts"?: Array<RuleDraft>;
  /** All routes of the project. Default: none. */
  "routes"?: Array<DeclaredRoute>;
}

/** The last change outside the manifest. */
export interface ManualChangeView {
  "by": string;
  "at": string;
  "action": string;
}

/** Runs a step once per item. Either `over` or `source` is required. */
export interface MapDocument {
  /** Items of the map: a list, a number, or an expression that yields one. Default: the items from `source`. */
  "over"?: string | Array<unknown> | number | null;
  /** Handler that yields the items. Default: the items in `over`. */
  "source"?: MapSourceDocument | null;
  /** Members that may fail: a number, or a percentage such as `5%`. Default: 0. */
  "tolerate"?: number | string | null;
  /** Maximum number of concurrent members. Default: as many as the workers can run. */
  "at_once"?: number | null;
}

/** The handler that yields the items of a map. */
export interface MapSourceDocument {
  /** Kind of the handler. */
  "kind": string;
  /** Payload of the handler; may have placeholders. Default: null. */
  "payload"?: unknown;
}

/** Progress of a map. `total` is null while its source still counts; `alive` members wait or run. */
export interface MapView {
  "total": number | null;
  "made": number;
  "alive": number;
  "succeeded": number;
  "failed": number;
  "cancelled": number;
  "progress": string;
}

/** How an event matched a job that waits for its type, and why. */
export interface MatchView {
  "job_id": string;
  "job_name": string | null;
  "outcome": "failed" | "filtered" | "gathered" | "matched" | "paused";
  "run_id": string | null;
  "why": string | null;
  "replay": string | null;
}

/** A limit that follows the job's own history. */
export interface MaxDurationDraft {
  /** Multiple of the 95th percentile of its recent successful runs. */
  "times": number;
  /** Never alert below this duration. Default: 1 minute. */
  "at_least"?: string | null;
}

export interface MembersQuery {
  /** Name of the map step. */
  "step": string;
  "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success">;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** How missed ticks are caught up. */
export interface MisfireDocument {
  /** Ticks that no scheduler fired in time, for example during an outage. Default: once. */
  "on_outage"?: CatchUp | null;
  /** Ticks missed while the job was paused. Default: skip. */
  "on_resume"?: CatchUp | null;
  /** After an edit: ticks of the new schedule between the last decided tick and now. Default: skip. */
  "on_edit"?: CatchUp | null;
  /** A tick that is later than this is not run; at least 30 seconds. Default: no deadline. */
  "start_deadline"?: string | null;
  /** With `all`: run at most this many ticks, the newest. Default: 100. */
  "max_catchup"?: number | null;
  /** Rate at which missed ticks are run, such as `10/min`, `1/s` or `100/PT15M`. Default: no limit. */
  "pace"?: string | null;
  /** A tick that is at most this late counts as on time, from 1 second to 1 day. Default: 1 minute. */
  "late_after"?: string | null;
}

export interface NotificationQuery {
  /** Filter by the name of a channel. Default: all. */
  "channel"?: string | null;
  /** Filter by state. Default: all. */
  "state"?: "digested" | "failed" | "pending" | "sending" | "sent" | "suppressed" | null;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** A message about incidents to one channel. */
export interface NotificationView {
  "notification_id": string;
  "channel": string;
  "kind": string;
  "severity": string;
  /** `pending`, `sending`, `sent` or `failed`. `digested`: a digest counts it instead. `suppressed`: not sent, `error` says why. */
  "state": string;
  "title": string | null;
  /** The incidents that the message names; at most 20. */
  "incident_ids": Array<string>;
  "incident_count": number;
  "created_at": string;
  /** When the next attempt is due. */
  "next_at": string | null;
  "sent_at": string | null;
  "attempts": number;
  "error": string | null;
  "digest_id": string | null;
}

/** What happens to a tick inside a blackout. */
export type OnBlackout = "advance" | "defer" | "skip";

/** A run and its outcome. `reason` also explains why a tick was skipped. */
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
  /** Maximum runs per job. Default: 20. */
  "each"?: number;
}

export interface OutputPiece {
  /** Sequence number from 0; a repeated piece is stored once. */
  "seq": number;
  /** The output. */
  "text": string;
  /** Stream of the output. Default: `stdout`. */
  "stream"?: "stderr" | "stdout";
}

export interface PageQuery {
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

export interface PauseDraft {
  /** Reason, shown with the paused job. Default: none. */
  "reason"?: string | null;
}

/** A new ping. Give `every` or `cron`. */
export interface PingDraft {
  /** Name of the ping, and of the job that shows its runs. */
  "name": string;
  /** A success is expected this often, 1m to 366d. Default: by `cron`. */
  "every"?: string | null;
  /** A success is expected at these times. Default: by `every`. */
  "cron"?: string | null;
  /** Time zone of `cron`. Default: UTC. */
  "timezone"?: string;
  /** How long a success may be late, and how long the work may take after `/start`. Default: 1h. */
  "grace"?: string;
  /** How incidents are reported. Default: to the default channels. */
  "alert"?: AlertDraft | null;
}

export interface PingQuery {
  /** Your id of this run, so that a start and its end belong together. Default: empty, one run at a time. */
  "rid"?: string;
}

/** A ping without its URL. */
export interface PingView {
  "ping_id": string;
  "name": string;
  /** The first characters of the token in the URL. */
  "handle": string;
  /** `new`: no signal yet. `up`, `down`: by the last check. `running`: work has begun and not ended. */
  "state": string;
  /** When a success is expected. */
  "schedule": Record<string, unknown>;
  "grace": string;
  "alert": Record<string, unknown>;
  "version": number;
  "created_at": string;
  "pinged_at": string | null;
  "succeeded_at": string | null;
  "failed_at": string | null;
  /** When a missing success becomes an incident. Default: null. */
  "overdue_at": string | null;
}

/** The differences. `touched` jobs match their declaration but were changed outside it. */
export interface PlanView {
  "project": string;
  "changes": Array<ChangeView>;
  "calendars": Array<CalendarChangeView>;
  "alerts": Array<AlertChangeView>;
  "unchanged": number;
  "touched": Record<string, ManualChangeView>;
  "seen": Record<string, number>;
  "seen_calendars": Record<string, number>;
  "seen_alerts": Record<string, number>;
  /** Kinds that no worker serves, and what to do. */
  "warnings": Array<string>;
}

export interface PredictionQuery {
  /** Deadline: a time of day in the job's zone, the first one after the tick (`06:00`), or a duration after the tick (`+3h30m`). Default: `expect.finish_by` of the job. */
  "by"?: string | null;
}

/** When a run will finish. Without enough history `expected_at` is null; `reason` says why. */
export interface PredictionView {
  "job_id": string;
  /** The run; null for a tick that was not fired yet. */
  "run_id": string | null;
  "scheduled_at": string;
  "due_at": string;
  "started_at": string | null;
  /** Half of such runs finish by this time. Default: null. */
  "expected_at": string | null;
  /** 9 of 10 such runs finish by this time. Default: null. */
  "likely_by": string | null;
  "deadline": string | null;
  /** Probability of success by the deadline, 0 to 1. Default: null. */
  "probability": number | null;
  /** Successful runs that the prediction is made of. */
  "samples": number;
  "basis": string | null;
  /** Why there is no prediction. Default: null. */
  "reason": string | null;
  "sentence": string;
}

/** A schedule to preview. */
export interface PreviewDraft {
  /** A schedule; see docs/reference/schedules.md. */
  "schedule": ScheduleDocument;
  /** Number of next times to show. Default: 10. */
  "count"?: number;
  /** IANA time zone of the viewer; each time is also shown in it. Default: the zone of the schedule. */
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

/** An RFC 9457 problem with a stable code and the invalid fields. */
export interface Problem {
  "type": string;
  "title": string;
  "status": number;
  "detail": string;
  "code": string;
  "request_id": string;
  "instance": string;
  "errors"?: Array<ProblemField>;
}

/** A request that ends the problem. Left out if the caller may not send it. */
export interface ProblemActionView {
  "label": string;
  "method": string;
  /** Path and query, relative to the address of the API. */
  "path": string;
  "body": Record<string, unknown> | null;
  /** Whether it is a bulk operation: send the body with `dry_run: true` first, then again with the `token` of the response. */
  "needs_token": boolean;
}

/** The error of one field; `pointer` is a JSON pointer into the request. */
export interface ProblemField {
  "pointer": string;
  "code": string;
  "detail": string;
}

export interface ProblemList {
  "data": Array<ProblemView>;
}

export interface ProblemListQuery {
  /** Act for all tenants; `true` requires a platform key. Default: true for a platform key, false for other keys. */
  "all_tenants"?: boolean;
  /** Find the problems anew; otherwise the list is up to 5 seconds old. Default: `false`. */
  "fresh"?: boolean;
}

export interface ProblemSubjectView {
  /** job, step, task, queue, tenant, source, endpoint, channel, ping, worker or platform. */
  "kind": string;
  "id": string;
  "name": string;
}

export interface ProblemView {
  /** For programs; listed in docs/reference/problems.md. */
  "code": string;
  /** What is wrong. */
  "sentence": string;
  /** Why, if Rota knows it. */
  "cause": string | null;
  "since": string | null;
  /** info, warning or page. */
  "severity": string;
  "subject": ProblemSubjectView;
  /** What to do. */
  "remedy": string;
  "action": ProblemActionView | null;
  /** Pages of the dashboard, by what they show. */
  "links": Record<string, string>;
}

export interface QueueCreated {
  "name": string;
}

/** A queue to create for the tenant. */
export interface QueueDraft {
  /** 1 to 63 characters of a-z, 0-9, dot, dash and underscore, starting with a letter or digit. */
  "name": string;
}

export interface QueueState {
  "name": string;
  "is_paused": boolean;
  /** Whether it applies to all tenants, not only the caller's. */
  "is_for_all": boolean;
}

/** A queue with the runs of the caller's tenant in it. Counts end at 10,000. */
export interface QueueView {
  "name": string;
  "is_paused": boolean;
  /** Whether a platform key paused it for all tenants. */
  "is_paused_for_all": boolean;
  "paused_at": string | null;
  /** Maximum concurrent runs: the tenant's own limit, or the limit for all tenants if the tenant set none. */
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

/** The quotas of a tenant. An omitted quota has its default; null removes the limit. */
export interface QuotasDraft {
  /** Maximum number of unfinished jobs. Default: 1,000,000. */
  "max_jobs"?: number | null;
  /** Maximum number of queued runs. Default: 5,000,000. */
  "max_queued"?: number | null;
  /** Maximum number of concurrent runs. Default: no limit. */
  "max_running"?: number | null;
  /** Maximum number of runs started per second. Default: no limit. */
  "runs_per_s"?: number | null;
  /** Minimum time between two ticks of a job, 1 second to 1 day. Default: no limit. */
  "min_period"?: string | null;
  /** Maximum number of queue names the tenant creates. Default: 10,000. */
  "max_queues"?: number | null;
  /** Maximum number of kind names the tenant creates. Default: 100,000. */
  "max_kinds"?: number | null;
  /** Maximum number of limit keys, such as one per customer. Default: 1,000,000. */
  "max_limit_keys"?: number | null;
  /** Maximum number of hooks. Default: 1,000. */
  "max_hooks"?: number | null;
  /** Maximum number of calendars. Default: 100. */
  "max_calendars"?: number | null;
  /** Maximum number of secrets. Default: 200. */
  "max_secrets"?: number | null;
  /** Maximum number of valid API keys. Default: 100. */
  "max_keys"?: number | null;
}

/** A single period of local time. */
export interface RangeDocument {
  /** Start: a date, or a local time without an offset. */
  "start": string;
  /** End: a date, which is included in the range, or a local time. */
  "end": string;
}

/** At most `count` runs start per `per`, of which `burst` may start at the same time. */
export interface RateDraft {
  /** Number of runs that may start per period. */
  "count": number;
  /** Length of the period, at most a year. */
  "per": string;
  /** Number of runs that may start at the same time. Default: 1. */
  "burst"?: number;
}

/** A window that starts at each time of a recurrence rule. */
export interface RecurringDocument {
  /** RRULE of the window's start, at most 24 times a day. */
  "rrule": string;
  /** Length of the window, from 1 second to 31 days. */
  "length": string;
}

/** What rules would have done over a part of the history. */
export interface Rehearsal {
  /** Start of the history that was read. */
  "since": string;
  "until": string;
  /** Ended runs that were read. */
  "runs": number;
  /** False if there were more runs than one rehearsal reads. */
  "is_complete": boolean;
  "incidents": number;
  "messages": number;
  "rules": Array<RehearsedRule>;
}

/** Which rules to replay over the history of runs. */
export interface RehearsalDraft {
  /** Rules to replay. Default: the stored rules. */
  "rules"?: Array<RuleDraft> | null;
  /** Routes that replace stored ones of the same name. Default: none. */
  "routes"?: Record<string, Array<RouteStepDraft>>;
  /** Replay the `expect` of jobs too. Default: true. */
  "include_jobs"?: boolean;
  /** How far to go back, at most 90 days. Default: 30 days. */
  "since"?: string;
}

/** What one rule, or one condition of a job, would have done. */
export interface RehearsedRule {
  "name": string;
  "origin": "job" | "rule";
  "condition": string;
  /** Incidents that it would have opened. */
  "incidents": number;
  /** Messages to all channels of its route. */
  "messages": number;
  /** Jobs, steps, tasks or queues with an incident. */
  "subjects": number;
  "first_at": string | null;
  "last_at": string | null;
  /** Title of the last incident. */
  "example": string | null;
  /** Why the rule was not replayed; null if it was. */
  "skipped": string | null;
}

export interface ReplayDraft {
  /** Payload of the new run. Default: the payload of the replayed run. */
  "payload"?: unknown;
}

/** Adds a rate limit, so that a recovering dependency is not flooded. */
export interface ReplayManyDraft {
  /** Selects runs; at least one field is required. */
  "filter": BulkFilter;
  /** Only count, and return a confirmation token. Default: `false`. */
  "dry_run"?: boolean;
  /** Token of a dry run with the same filter; required unless `dry_run`. Default: none. */
  "token"?: string | null;
  /** Maximum starts per minute. Default: all at once. */
  "per_minute"?: number | null;
  /** Runs that earlier calls requeued at the same rate. Default: 0. */
  "before"?: number;
}

/** `matched` deliveries fit the filter, this call scheduled `done`, and `token` confirms. */
export interface ReplayedDeliveries {
  "matched": number;
  "done": number;
  "token": string | null;
}

/** How to treat the ticks missed during the pause. */
export interface ResumeDraft {
  /** Which missed ticks to run: none, one, or all. Default: the misfire policy of the schedule. */
  "missed"?: "all" | "once" | "skip" | null;
}

/** How often and how soon a failed run is retried. A null field has its default. */
export interface RetriesDraft {
  /** Retries after the first attempt. Default: 3. */
  "max"?: number | null;
  /** How the delay grows from retry to retry. Default: `list` if `delays` is set; otherwise `exponential`. */
  "kind"?: "constant" | "exponential" | "linear" | "list" | null;
  /** Delay before the first retry, at most 24 hours. Default: 1 s. */
  "base"?: string | null;
  /** Maximum delay, at most 24 hours. Default: 1 hour. */
  "cap"?: string | null;
  /** With kind `list`: the delays in order; the last repeats. Default: none. */
  "delays"?: Array<string> | null;
  /** Random share of each delay: all of it (`full`), half of it (`equal`) or `none`. Default: `full`. */
  "jitter"?: "equal" | "full" | "none" | null;
}

export interface RotateDraft {
  /** A secret chosen by the sender. Default: a random one. */
  "secret"?: string | null;
  /** How long the previous secret stays valid. Default: 1 day. */
  "former_for"?: string;
}

/** A route: which channels get the messages of an incident, and when. */
export interface RouteDraft {
  /** Steps in order. */
  "steps": Array<RouteStepDraft>;
}

/** One step of a route: channels, and when they get messages. */
export interface RouteStepDraft {
  /** Names of channels. */
  "to": Array<string>;
  /** How long after the incident opened the step starts, at most 30 days. Default: 0 s. */
  "after"?: string | null;
  /** Repeat the message at this interval while the incident is open and not acknowledged, from 1 minute to 30 days. Default: no repetition. */
  "repeat"?: string | null;
  /** Skip the step for an acknowledged incident. Default: never skip. */
  "unless"?: "acknowledged" | null;
  /** Only incidents that are at least this urgent. Default: all. */
  "severity"?: "info" | "page" | "warning" | null;
  /** Whether these channels get recovery messages. Default: true. */
  "recovery"?: boolean | null;
}

export interface RouteView {
  "name": string;
  "steps": Array<Record<string, unknown>>;
  /** Project whose rota.yaml declares the route; null: created by the API. */
  "project": string | null;
  "version": number;
  "created_at": string;
  "updated_at": string;
}

/** The condition of a rule: exactly one field. */
export interface RuleCondition {
  /** Each tick's run starts within this time after its tick. Default: none. */
  "start_within"?: string | null;
  /** Each tick's run succeeds by this time of day in the job's zone, the first one after the tick (`06:00`), or within a duration after the tick (`+3h30m`). Default: none. */
  "finish_by"?: string | null;
  /** Warn before `finish_by` is missed. Default: false. */
  "at_risk"?: boolean | AtRiskDraft | null;
  /** The newest successful tick is at most this old; must not be shorter than the longest gap between two ticks. Default: none. */
  "succeed_every"?: string | null;
  /** A run lasts at most this long, or a multiple of its own history. Default: none. */
  "max_duration"?: string | MaxDurationDraft | null;
  /** Failures in a row, or share of failures. Default: none. */
  "failures"?: FailuresDraft | null;
  /** New dead letters with the same error. Default: none. */
  "dead_letters"?: number | DeadLettersDraft | null;
  /** Missed ticks in a row. Default: none. */
  "missed_ticks"?: number | null;
  /** A queue with waiting runs has a worker at the latest after this time. Default: none. */
  "no_worker"?: string | null;
  /** No run of a queue waits longer than this. Default: none. */
  "oldest_wait"?: string | null;
  /** Ticks are fired at most this late. Needs the role platform. Default: none. */
  "lag"?: string | null;
}

/** A rule: one condition for all subjects that `match` selects, and how it is reported. */
export interface RuleDraft {
  /** Name of a route or a channel. Default: the default channels. */
  "to"?: string | null;
  /** How urgent an incident is; `page` may wake people. Default: `warning`. */
  "severity"?: "info" | "page" | "warning" | null;
  /** How long a violation must last before an incident opens, at most a day. Default: 0 s. */
  "for"?: string | null;
  /** How many times in a row the condition must be met before the incident ends. Default: 1. */
  "clear"?: number | null;
  /** Whether a message is sent when the incident ends. Default: true. */
  "recovery"?: boolean | null;
  /** Name of the rule; unique in the tenant. */
  "name": string;
  /** The condition that must be met; exactly one field. */
  "when": RuleCondition;
  /** What the rule applies to. Default: every job. */
  "match"?: SubjectMatch;
  /** Whether the rule is checked. Default: true. */
  "enabled"?: boolean;
}

/** One run with its payload, its result and the backfill that created it. `submitter` and `address` are the caller and its address; null for a run that a job created. `traceback` belongs to the last attempt; null if no exception ended it. */
export interface RunDetail {
  /** Id of the run. */
  "run_id": string;
  /** Id of its job; for a one-time submission, its own id. */
  "job_id": string;
  /** Name of the job or submission; its kind if it has no name. */
  "job_name": string | null;
  /** Version of the job's definition that the run uses, even if the job has changed since; null if that version is no longer stored. */
  "job_version": number | null;
  /** State of the run (docs/reference/states.md). */
  "status": string;
  /** Time given by the schedule or by the caller. */
  "scheduled_at": string;
  /** Earliest start: `scheduled_at`, shifted by jitter, `defer` or `advance`. */
  "due_at": string;
  /** When the last attempt started. */
  "start_time": string | null;
  /** When the run finished. */
  "end_time": string | null;
  /** When it last changed: it started, reported progress, was retried, was asked to cancel, or finished. */
  "modified_time": string;
  /** When the run was created. */
  "created_at": string;
  /** Number of attempts so far; 0 before the first. */
  "attempt_number": number;
  /** Number of failed attempts. */
  "failures": number;
  /** Id of the worker that last claimed it. */
  "executor_id": string | null;
  /** Name of that worker. */
  "worker": string | null;
  /** Kind of the job. */
  "kind": string;
  /** Queue of the run. */
  "queue": string;
  /** Priority from 0 (first) to 9 (last). */
  "priority": number;
  /** Trigger: tick, manual, api, event, graph, backfill or replay. */
  "trigger": string;
  /** Message of the last error. */
  "error_message": string | null;
  /** Why it is in this state: the last error, or another reason. */
  "reason": Record<string, unknown> | null;
  /** Reported progress, from 0 to 1. */
  "progress": number | null;
  /** Message reported with the progress. */
  "progress_message": string | null;
  /** Labels of the job version that it uses, or its own. */
  "labels": Record<string, string>;
  /** For a step: id of its graph run. */
  "graph_run_id": string | null;
  /** For a step: index in the graph. */
  "step": number | null;
  /** For a member of a map: index in the map. */
  "member": number | null;
  /** Path of its log. */
  "log_url": string;
  "payload": unknown;
  "user_id": string | null;
  "submitter": string | null;
  "address": string | null;
  "result": unknown;
  "deadline_at": string | null;
  "backfill_id": string | null;
  "traceback": Array<TracebackError> | null;
}

/** Why the run is in its state, in one sentence. */
export interface RunExplanation {
  "run_id": string;
  "status": string;
  "code": string;
  "sentence": string;
  "details": Record<string, unknown>;
  /** When an unfinished run will finish, if that can be predicted. */
  "prediction"?: string | null;
}

/** A graph run: its graph and the state of every step. `counts` is the number of steps per state; `critical_path` lists the steps that determined the duration. */
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

/** A run outside the schedule. */
export interface RunNowDraft {
  /** Payload of the run. Default: the job's payload. */
  "payload"?: unknown;
  /** Priority of the run. Default: the job's priority. */
  "priority"?: number | "high" | "low" | "medium" | "normal" | null;
  /** What to do if the previous run is still active. Default: the job's policy. */
  "overlap"?: "allow" | "cancel_running" | "queue_all" | "queue_one" | "skip" | "terminate_running" | null;
}

export interface RunStateView {
  "run_id": string;
  "status": string;
}

/** A run and its current state. */
export interface RunView {
  /** Id of the run. */
  "run_id": string;
  /** Id of its job; for a one-time submission, its own id. */
  "job_id": string;
  /** Name of the job or submission; its kind if it has no name. */
  "job_name": string | null;
  /** Version of the job's definition that the run uses, even if the job has changed since; null if that version is no longer stored. */
  "job_version": number | null;
  /** State of the run (docs/reference/states.md). */
  "status": string;
  /** Time given by the schedule or by the caller. */
  "scheduled_at": string;
  /** Earliest start: `scheduled_at`, shifted by jitter, `defer` or `advance`. */
  "due_at": string;
  /** When the last attempt started. */
  "start_time": string | null;
  /** When the run finished. */
  "end_time": string | null;
  /** When it last changed: it started, reported progress, was retried, was asked to cancel, or finished. */
  "modified_time": string;
  /** When the run was created. */
  "created_at": string;
  /** Number of attempts so far; 0 before the first. */
  "attempt_number": number;
  /** Number of failed attempts. */
  "failures": number;
  /** Id of the worker that last claimed it. */
  "executor_id": string | null;
  /** Name of that worker. */
  "worker": string | null;
  /** Kind of the job. */
  "kind": string;
  /** Queue of the run. */
  "queue": string;
  /** Priority from 0 (first) to 9 (last). */
  "priority": number;
  /** Trigger: tick, manual, api, event, graph, backfill or replay. */
  "trigger": string;
  /** Message of the last error. */
  "error_message": string | null;
  /** Why it is in this state: the last error, or another reason. */
  "reason": Record<string, unknown> | null;
  /** Reported progress, from 0 to 1. */
  "progress": number | null;
  /** Message reported with the progress. */
  "progress_message": string | null;
  /** Labels of the job version that it uses, or its own. */
  "labels": Record<string, string>;
  /** For a step: id of its graph run. */
  "graph_run_id": string | null;
  /** For a step: index in the graph. */
  "step": number | null;
  /** For a member of a map: index in the map. */
  "member": number | null;
  /** Path of its log. */
  "log_url": string;
}

export interface RunsOfJobQuery {
  "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success">;
  /** Filter by trigger; `tick` is the schedule. Default: all. */
  "trigger"?: "api" | "backfill" | "event" | "graph" | "manual" | "replay" | "tick";
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

export interface RunsQuery {
  "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success">;
  /** Filter by job. Default: all. */
  "job_id"?: string | null;
  /** Filter by kind. Default: all. */
  "kind"?: string | null;
  /** Filter by queue. Default: all. */
  "queue"?: string | null;
  /** Filter by the worker of the last attempt: its id or name. Default: all. */
  "worker_id"?: string | null;
  /** Filter by graph run: its steps. Default: all. */
  "graph_run_id"?: string | null;
  /** Created at or after this time. Default: any. */
  "created_after"?: string | null;
  /** Created before this time. Default: any. */
  "created_before"?: string | null;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** When a job runs. At least one rule is required. `cron`, `rrule`, `every` and `at` can be combined: the job runs at the times of all of them. The other rules cannot be combined. */
export interface ScheduleDocument {
  /** Cron expression or list of them (docs/reference/cron.md), `@every 90s`, or `@at` with an instant. Default: none. */
  "cron"?: string | Array<string> | null;
  /** Recurrence rule of RFC 5545, or a list of them. Default: none. */
  "rrule"?: string | Array<string> | null;
  /** Fixed rate, start to start; a string is `interval`. Default: none. */
  "every"?: string | Array<string | EveryDocument> | EveryDocument | null;
  /** Once, at this instant, or at each instant of a list. Default: none. */
  "at"?: string | Array<string> | null;
  /** Once, this long after the schedule is saved; stored as `at`. Default: none. */
  "after"?: string | null;
  /** Fixed delay after the previous run finished; a string is `delay`. Default: none. */
  "fixed_delay"?: string | FixedDelayDocument | null;
  /** Once, immediately. Default: none. */
  "immediate"?: boolean | null;
  /** When events arrive; a string is `type`. Default: none. */
  "event"?: string | TriggerDocument | null;
  /** Only when triggered by a user or a program. Default: none. */
  "on_demand"?: boolean | null;
  /** IANA time zone of local times. Default: the zone inside a rule, otherwise UTC. */
  "timezone"?: string | null;
  /** If a cron expression has both a day of the month and a day of the week: whether `any` or `all` of them must match. Default: any. */
  "day_match"?: DayMatch | null;
  /** How daylight-saving changes are handled. Default: gap run_after, overlap first. */
  "dst"?: DstDocument | null;
  /** Names of calendars whose windows are blackouts. Default: none. */
  "calendars"?: string | Array<string> | null;
  /** What to do with a tick in a blackout: do not run it (`skip`), run it after the blackout (`defer`) or before it (`advance`). Default: skip. */
  "on_blackout"?: OnBlackout | null;
  /** Random delay of each tick, to spread load; a string is `window`. Default: no delay. */
  "jitter"?: string | JitterDocument | null;
  /** When the schedule is active. Default: always. */
  "window"?: WindowDocument | null;
  /** How missed ticks are caught up. Default: one run after an outage, none after a pause or an edit. */
  "misfire"?: MisfireDocument | null;
}

export interface SchedulerView {
  "scheduler_id": string;
  "name": string;
  "is_draining": boolean;
  "started_at": string;
  "beat_at": string;
  "shards": Array<number>;
  /** Version of Rota; null for an earlier release. */
  "version": string | null;
  /** Where its probes and metrics are; null if the listener is off. Only platform keys see it. */
  "observe_url": string | null;
}

export interface Schedulers {
  "data": Array<SchedulerView>;
}

export interface SecretDraft {
  /** The secret. Shorter values cannot be masked in logs. */
  "value": string;
}

export interface SecretView {
  "name": string;
  "version": number;
  "updated_at": string;
}

export interface SeriesQuery {
  /** Last hour by minute, day by hour, or month by day. Default: `hour`. */
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

/** Holds back messages about matching incidents; checks go on. Give `for` or `ends_at`, at most 30 days, or a calendar. */
export interface SilenceDraft {
  /** Why messages are held back. */
  "reason": string;
  /** What the silence applies to. Default: everything of the tenant. */
  "match"?: SubjectMatch;
  /** When the silence begins. Default: now. */
  "starts_at"?: string | null;
  /** When the silence ends. Default: `for` after its start. */
  "ends_at"?: string | null;
  /** How long the silence lasts, instead of `ends_at`. Default: none. */
  "for"?: string | null;
  /** Name of a calendar: the silence holds in its windows, until it is deleted. Default: none. */
  "calendar"?: string | null;
}

export interface SilenceQuery {
  /** Also list ended silences. Default: false. */
  "ended"?: boolean;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

/** A silence. `ends_at` is null for one that follows a calendar without an end. */
export interface SilenceView {
  "silence_id": string;
  "match": SubjectMatch;
  "starts_at": string;
  "ends_at": string | null;
  "calendar": string | null;
  "reason": string;
  /** `pending`, `active` or `ended`. */
  "state": string;
  "created_by": string;
  "created_at": string;
  "ended_by": string | null;
}

/** An event source and its progress. */
export interface SourceView {
  "name": string;
  "kind": string;
  /** `reading`: a process reads it. `failing`: the last attempt failed and is retried. `idle`: no process reads it; check the settings of the schedulers. */
  "state": "failing" | "idle" | "reading";
  /** Process that reads it now. */
  "reader": string | null;
  /** Position in the source, in its own format. */
  "position": string | null;
  /** Unread events; null if the source cannot tell. */
  "lag": number | null;
  /** Events received so far, without duplicates. */
  "taken": number;
  /** Messages skipped as invalid. */
  "refused": number;
  /** Last successful read. */
  "read_at": string | null;
  /** Time of the last new event. */
  "taken_at": string | null;
  /** Consecutive failures. */
  "failures": number;
  /** Last error. */
  "error": string | null;
  "error_at": string | null;
}

export interface Sources {
  "data": Array<SourceView>;
}

/** `refused` is set if the overlap policy did not allow the run, and says why. */
export interface StartedRun {
  "job_id": string;
  "run_id": string;
  "refused": string | null;
}

/** The period of the statistics. */
export interface StatisticsQuery {
  /** Start of the period, at most a month ago. Default: an hour ago. */
  "since"?: string | null;
}

/** Statistics of a tenant. `is_estimate`: there were too many runs to count each. */
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

/** One step of a graph. `kind` or `graph` is required. */
export interface StepDocument {
  /** Name of the step, used in `needs` and in expressions. */
  "name": string;
  /** Handler that runs the step. Default: none; then `graph` is required. */
  "kind"?: string | null;
  /** Names of the steps that must finish before it starts. Default: none. */
  "needs"?: Array<string> | null;
  /** Condition on the steps in `needs`: `success`, `failure`, `always`, `none_failed`, or an expression. Default: `success`. */
  "when"?: string | null;
  /** Payload of the step; `{"$": "steps.a.result"}` is replaced by that value. Default: null. */
  "payload"?: unknown;
  /** Run the step once per item. Default: the step runs once. */
  "map"?: MapDocument | null;
  /** Sub-graph that runs as this step. Default: none; the step runs `kind`. */
  "graph"?: GraphDocument | null;
  /** The graph can succeed even if this step fails. Default: false. */
  "may_fail"?: boolean | null;
  /** Queue of the step. Default: the job's queue. */
  "queue"?: string | null;
  /** Priority: `high`, `normal`, `low`, or 0 (first) to 9 (last). Default: the job's priority. */
  "priority"?: number | string | null;
  /** Number of retries, or an object with delays as in a job. Default: the job's retries. */
  "retries"?: unknown;
  /** Time limit of one attempt, or `none`. Default: the job's timeout. */
  "timeout"?: unknown;
  /** Time limit of the step with all its retries. Default: no limit. */
  "deadline"?: unknown;
  /** Time between asking an attempt to stop and killing it. Default: the job's grace. */
  "grace"?: unknown;
  /** Delivery guarantee if a worker is lost. Default: the job's guarantee. */
  "guarantee"?: unknown;
  /** Service that the attempts depend on. Default: the job's target. */
  "target"?: unknown;
}

/** One step. `status` is waiting, live, succeeded, failed, cancelled or skipped. `run_id` is the run of the step; for a sub-graph its graph run, for a map the run of its source, if any. */
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

/** Which subjects a rule or a silence applies to. All given fields must match; without any, all jobs match. `*` in a pattern stands for any characters. */
export interface SubjectMatch {
  /** Pattern of job names. Default: any. */
  "job"?: string | null;
  /** Pattern of step names of graphs. Default: no steps. */
  "step"?: string | null;
  /** Pattern of tasks (the kind of a job). Default: any. */
  "task"?: string | null;
  /** Pattern of queue names. Default: any. */
  "queue"?: string | null;
  /** Labels that the job must have. Default: any. */
  "labels"?: Record<string, string>;
}

/** Targets with the same labels, in the form of Prometheus' HTTP service discovery. */
export interface TargetGroup {
  /** Host and port of each listener. */
  "targets": Array<string>;
  /** `role`, `version` and `process`. The group of the cluster's metrics has `__metrics_path__` and a fixed `instance` instead. */
  "labels": Record<string, string>;
}

/** Runs that ended from `start` on, for `width_s` seconds. */
export interface TaskBucket {
  "start": string;
  "ended": number;
  "failed": number;
  "duration_p50_s": number | null;
  "duration_p99_s": number | null;
  "wait_p50_s": number | null;
  "wait_p99_s": number | null;
}

export interface TaskFailure {
  "run_id": string;
  "ended_at": string;
  "error_type": string | null;
  "message": string | null;
}

/** A task in the list. `workers` is the number of live workers that serve it. `runs_per_minute` and `failure_rate` cover runs that ended in the last hour. `scheduled` counts submissions for a later time. `last_run_at` is the end of the last run among the newest 32,000 of your tenant. `is_estimate`: more runs ended in the last hour than are read. `is_partial`: more runs wait or are scheduled than are counted. */
export interface TaskItem {
  "kind": string;
  "description": string | null;
  "workers": number;
  "runs_per_minute": number;
  "failure_rate": number | null;
  "running": number;
  "waiting": number;
  "scheduled": number;
  "last_run_at": string | null;
  "is_estimate": boolean;
  "is_partial": boolean;
}

export interface TaskJob {
  "job_id": string;
  "name": string;
  "status": string;
  "next_run_at": string | null;
}

export interface TaskQuery {
  /** Period of the figures: the last hour by minute, 24 hours or 7 days by hour, 30 days by day. Default: `24h`. */
  "window"?: "1h" | "24h" | "30d" | "7d";
}

/** A task and its figures. A worker reports `description`, `payload_schema` and `default_policy` when it starts. `default_policy` contains the options declared on the handler; null without options. `runs`, `ended`, `failed`, the rates and the percentiles cover runs that ended from `since` on. Ticks without a run do not count. `duration_*` is the time of the last attempt, `wait_*` the time from when a run could start until it started; the percentiles are accurate to 5 %. `is_estimate`: there were too many runs to count each. `is_partial`: more runs wait or are scheduled than are counted. `jobs` are the newest 50 of this kind. */
export interface TaskView {
  "kind": string;
  "description": string | null;
  "payload_schema": Record<string, unknown> | null;
  "default_policy": Record<string, unknown> | null;
  "supports_exactly_once": boolean | null;
  "workers": Array<TaskWorker>;
  "running": number;
  "waiting": number;
  "scheduled": number;
  "is_partial": boolean;
  "window": "1h" | "24h" | "30d" | "7d";
  "since": string;
  "now": string;
  "runs": Record<string, number>;
  "ended": number;
  "failed": number;
  "failure_rate": number | null;
  "runs_per_minute": number;
  "duration_p50_s": number | null;
  "duration_p99_s": number | null;
  "wait_p50_s": number | null;
  "wait_p99_s": number | null;
  "is_estimate": boolean;
  "last_run_at": string | null;
  "last_failure": TaskFailure | null;
  "jobs": Array<TaskJob>;
  "has_more_jobs": boolean;
  "width_s": number;
  "series": Array<TaskBucket>;
}

export interface TaskWorker {
  "worker_id": string;
  "name": string;
  "is_draining": boolean;
  "queues": Array<string>;
}

export interface TasksQuery {
  /** Part of the kind or description; case is ignored. Default: all. */
  "q"?: string | null;
  /** `true`: tasks that a live worker serves; `false`: tasks without a live worker. Default: both. */
  "served"?: boolean;
  /** Maximum items per page. Default: 50. */
  "limit"?: number;
  "cursor"?: string | null;
}

export interface TenantDraft {
  /** Unique among the tenants. */
  "name": string;
  /** Share of busy workers relative to other tenants. Default: 1. */
  "weight"?: number;
  /** Quotas of the tenant. Default: the default of each quota. */
  "quotas"?: QuotasDraft | null;
}

export interface TenantEdit {
  /** Share of busy workers relative to other tenants. Default: unchanged. */
  "weight"?: number;
  /** Replaces all quotas; an omitted quota gets its default. Default: unchanged. */
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

/** An entry of the thread of an incident. `by` is null for Rota itself. */
export interface ThreadEntryView {
  "at": string;
  "type": string;
  "by": string | null;
  "text": string | null;
}

/** A login ticket. Append `path` to the address of the API. */
export interface TicketView {
  "ticket": string;
  "path": string;
  "expires_at": string;
}

/** One exception, with its frames in the order of the calls. `relation` is `raised` for the error that ended the attempt, whose message is `error_message`; then `cause` (raised from), `context` (raised while handling) or `member` (of a group; one `depth` deeper). `omitted_frames` counts frames omitted from the middle. */
export interface TracebackError {
  "relation": "cause" | "context" | "member" | "raised";
  "type": string;
  "message": string | null;
  "depth": number;
  "frames": Array<TracebackFrame>;
  "omitted_frames": number;
}

/** One call. `is_own`: code of the user, not of Rota, Python or a library. */
export interface TracebackFrame {
  "file": string;
  "line": number;
  "function": string;
  "code": string;
  "is_own": boolean;
}

/** The events that start a run of the job. */
export interface TriggerDocument {
  /** Event type: `order.paid`, `order.*` for every type below `order`, or `*` for all. Required without `all_of`. Default: none. */
  "type"?: string | null;
  /** Expression over `event` that must be true. Default: every event of the type matches. */
  "where"?: string | null;
  /** One run when no further event has arrived for a while; a string is `quiet`. Default: one run per event. */
  "debounce"?: string | DebounceDocument | null;
  /** One run for several events. Default: one run per event. */
  "batch"?: BatchDocument | null;
  /** One run when an event of each of these types has arrived. Default: one run per event of `type`. */
  "all_of"?: Array<string | EventMatchDocument> | null;
  /** Time after the first event of `all_of` in which the others must arrive, from 1 second to 7 days. Required with `all_of`. Default: none. */
  "within"?: string | null;
  /** Only with `all_of`. Expression over `event`; events are grouped by its value. Default: one group for all events. */
  "key"?: string | null;
}

/** Deduplicates submissions: the first one with a key becomes a run; a later one returns that run, is rejected, or replaces it. */
export interface UniqueDraft {
  /** Submissions with the same key are duplicates; `{args.id}` is replaced by the value in the payload. */
  "key": string;
  /** How long the key is held: until the run starts (`queued`) or until it has finished (`live`). Default: `live`. */
  "while"?: "live" | "queued";
  /** Minimum time that the key is held, even after the run has finished; at most a year. Default: no minimum. */
  "within"?: string;
  /** What a later submission does: `return` the existing run, `reject` with 409, or `replace` the existing run. Default: `return`. */
  "on_conflict"?: "reject" | "replace" | "return";
}

/** A next time. `local` is `at` in the schedule's time zone, with its UTC offset. */
export interface UpcomingView {
  "at": string;
  "due_at": string;
  "local": string;
  "viewed": string;
  "notes": Array<string>;
}

/** A user of jobs and keys. `jobs` counts jobs that are not deleted, up to 200; `keys` counts valid keys. */
export interface UserView {
  "user_id": string;
  "jobs": number;
  "keys": number;
}

export interface WarningView {
  "code": string;
  "detail": string;
}

/** A subscription: events are sent to a URL as signed requests. */
export interface WebhookDraft {
  /** Where events are sent. It must be public: the same rules as for `http` jobs apply. `https`, unless `allow_http` is set. */
  "url": string;
  /** Event types or patterns; an event must match one of them. */
  "events": Array<string>;
  /** Unique in the tenant. Default: the host of the URL. */
  "name"?: string | null;
  /** Which events are sent. Default: all. */
  "filter"?: WebhookFilter | null;
  /** Fields to send in addition, masked: payload and result of the run. Requires the role admin. Default: none. */
  "include"?: Array<"payload" | "result">;
  /** Form of the body: `{type, timestamp, data}` (`standard`) or a CloudEvent. Default: `standard`. */
  "format"?: "cloudevents" | "standard";
  /** Allow a URL without TLS, readable on the way. Default: `false`. */
  "allow_http"?: boolean;
  /** Signing secret: `whsec_` and the base64 of 24 to 64 random bytes. Default: a random one. */
  "secret"?: string | null;
}

/** Changes the given fields. */
export interface WebhookEdit {
  /** Where events are sent. It must be public: the same rules as for `http` jobs apply. `https`, unless `allow_http` is set. Default: unchanged. */
  "url"?: string;
  /** Event types or patterns; an event must match one of them. Default: unchanged. */
  "events"?: Array<string>;
  /** Unique in the tenant. Default: unchanged. */
  "name"?: string;
  /** Replaces the whole filter; null removes it. Default: unchanged. */
  "filter"?: WebhookFilter | null;
  /** Fields to send in addition, masked: payload and result of the run. Requires the role admin. Default: unchanged. */
  "include"?: Array<"payload" | "result">;
  /** Form of the body: `{type, timestamp, data}` (`standard`) or a CloudEvent. Default: unchanged. */
  "format"?: "cloudevents" | "standard";
  /** Allow a URL without TLS. Default: unchanged. */
  "allow_http"?: boolean;
}

/** If deliveries are held, send a dry run first and repeat it with its token. */
export interface WebhookEnableDraft {
  /** What happens to held deliveries: send all (`replay`), send only the newest, or drop them. Required if there are any. Default: none. */
  "held"?: "drop" | "newest" | "replay" | null;
  /** Pace of `replay`, in deliveries per minute. Default: 600. */
  "per_minute"?: number;
  /** Only count, and return a confirmation token. Default: `false`. */
  "dry_run"?: boolean;
  /** Token of a dry run with the same `held`. Default: none. */
  "token"?: string | null;
}

/** Conditions that an event must meet, all of them. `*` in a name matches any characters. */
export interface WebhookFilter {
  /** Name of the job, or a pattern such as `nightly *`. Default: any. */
  "job"?: string | null;
  /** Task, or a pattern. Default: any. */
  "task"?: string | null;
  /** Queue, or a pattern. Default: any. */
  "queue"?: string | null;
  /** Labels that the job must have. Default: none. */
  "labels"?: Record<string, string>;
  /** Lowest severity of incident events. Default: any. */
  "severity"?: "info" | "page" | "warning" | null;
}

/** Send a dry run first, which returns the count and a token; then repeat it with the token. */
export interface WebhookReplayDraft {
  /** Which deliveries to send again. Default: `failed`. */
  "states"?: Array<"delivered" | "dropped" | "failed"> | null;
  /** Event types or patterns. Default: all. */
  "events"?: Array<string> | null;
  /** Events at or after this time. Default: any. */
  "since"?: string | null;
  /** Events before this time. Default: any. */
  "until"?: string | null;
  /** Pace, in deliveries per minute. Default: 600. */
  "per_minute"?: number;
  /** Only count, and return a confirmation token. Default: `false`. */
  "dry_run"?: boolean;
  /** Token of a dry run with the same filter; required unless `dry_run`. Default: none. */
  "token"?: string | null;
}

/** During the overlap both secrets sign, so receivers can change at any time in between. */
export interface WebhookRotateDraft {
  /** Signing secret: `whsec_` and the base64 of 24 to 64 random bytes. Default: a random one. */
  "secret"?: string | null;
  /** How long the previous secret signs as well. Default: 24 hours. */
  "former_for"?: string;
}

/** An endpoint without its secret. `url` is shortened for viewers. `pending` counts deliveries that wait, `held` those that wait because the endpoint is disabled; both up to 100,001. `failing_since` is the first failed attempt since the last success. */
export interface WebhookView {
  "webhook_id": string;
  "name": string;
  "url": string;
  "events": Array<string>;
  "filter": WebhookFilter;
  "include": Array<string>;
  "format": "cloudevents" | "standard";
  "allow_http": boolean;
  "state": "disabled" | "enabled";
  "disabled_reason": "failing" | "gone" | "manual" | null;
  "disabled_at": string | null;
  "failures": number;
  "failing_since": string | null;
  "last_success_at": string | null;
  "last_failure_at": string | null;
  "last_error": string | null;
  "pending": number;
  "held": number;
  "version": number;
  "former_secret_until": string | null;
  "created_at": string;
  "created_by": string;
  "updated_at": string;
  "warnings"?: Array<string>;
}

/** A period of every week. */
export interface WeeklyDocument {
  /** Start: a day and a time, such as `fri 18:00`. */
  "start": string;
  /** End: a day and a time, such as `mon 06:00`. */
  "end": string;
}

export interface WhoAmI {
  "key_id": string;
  "name": string;
  "tenant": string;
  "role": string;
  "user_id": string | null;
  "expires_at": string | null;
  /** Set if the key expires within 14 days, or never. Default: null. */
  "warning"?: string | null;
}

/** Limits when a schedule is active, and how many runs it creates. */
export interface WindowDocument {
  /** No tick before this instant. Default: no start. */
  "start"?: string | null;
  /** No tick at or after this instant. Default: no end. */
  "end"?: string | null;
  /** The schedule ends after this many runs. Default: no limit. */
  "max_runs"?: number | null;
}

export interface WorkerDrained {
  "worker_id": string;
  "name": string;
  "is_draining": boolean;
}

export interface WorkerList {
  "data": Array<WorkerView>;
}

export interface WorkerView {
  "worker_id": string;
  "name": string;
  "is_alive": boolean;
  "is_draining": boolean;
  "slots": number;
  "running": number;
  "queues": Array<string>;
  /** Tenants whose runs it executes, `*` for all. Other tenants are hidden. */
  "tenants": Array<string>;
  "kinds": Array<string>;
  "started_at": string;
  "beat_at": string;
  /** Version of Rota; null for an earlier release. */
  "version": string | null;
  /** Where its probes and metrics are; null if the listener is off. Only platform keys see it. */
  "observe_url": string | null;
}

export interface WorkersQuery {
  /** Act for all tenants; `true` requires a platform key. Default: true for a platform key, false for other keys. */
  "all_tenants"?: boolean;
  /** Include recently stopped workers. Default: `false`. */
  "with_dead"?: boolean;
}

/** Every operation, by its method and path. */
export interface Operations {
  /** Create a route (201) or replace it (200). */
  "PUT /v1/routes/{name}": { path: { name: string }; query: {  }; body: RouteDraft; answer: RouteView };
  /** List routes by name. */
  "GET /v1/routes": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_RouteView_ };
  /** Get a route. */
  "GET /v1/routes/{name}": { path: { name: string }; query: {  }; body: undefined; answer: RouteView };
  /** Delete a route that no job and no rule reports to. */
  "DELETE /v1/routes/{name}": { path: { name: string }; query: {  }; body: undefined; answer: undefined };
  /** List the audit log, newest first. */
  "GET /v1/audit": { path: {  }; query: { "thing"?: string | undefined; "thing_id"?: string | undefined; "actor"?: string | undefined; "action"?: string | undefined; "since"?: string | undefined; "until"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_AuditView_ };
  /** List backfills, newest first. */
  "GET /v1/backfills": { path: {  }; query: { "status"?: Array<"cancelled" | "cancelling" | "finished" | "paused" | "running"> | undefined; "job_id"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_BackfillProgress_ };
  /** Get a backfill with its progress and its expected end. */
  "GET /v1/backfills/{backfill_id}": { path: { backfill_id: string }; query: {  }; body: undefined; answer: BackfillProgress };
  /** Pause a backfill. */
  "POST /v1/backfills/{backfill_id}/pause": { path: { backfill_id: string }; query: {  }; body: undefined; answer: BackfillProgress };
  /** Resume a paused backfill. */
  "POST /v1/backfills/{backfill_id}/resume": { path: { backfill_id: string }; query: {  }; body: undefined; answer: BackfillProgress };
  /** Cancel a backfill. */
  "POST /v1/backfills/{backfill_id}/cancel": { path: { backfill_id: string }; query: {  }; body: BackfillCancel | undefined; answer: BackfillProgress };
  /** Create a calendar (201) or replace it (200). */
  "PUT /v1/calendars/{name}": { path: { name: string }; query: {  }; body: CalendarDraft; answer: CalendarView };
  /** List calendars by name. */
  "GET /v1/calendars": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_CalendarView_ };
  /** Get a calendar. */
  "GET /v1/calendars/{name}": { path: { name: string }; query: {  }; body: undefined; answer: CalendarView };
  /** Delete a calendar that no job uses. */
  "DELETE /v1/calendars/{name}": { path: { name: string }; query: {  }; body: undefined; answer: undefined };
  /** List incidents, latest first. */
  "GET /v1/incidents": { path: {  }; query: { "state"?: "acknowledged" | "open" | "resolved" | "silenced" | undefined; "severity"?: "info" | "page" | "warning" | undefined; "job"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_IncidentView_ };
  /** Get an incident with its thread and messages. */
  "GET /v1/incidents/{incident_id}": { path: { incident_id: string }; query: {  }; body: undefined; answer: IncidentView };
  /** Acknowledge an incident. */
  "POST /v1/incidents/{incident_id}/acknowledge": { path: { incident_id: string }; query: {  }; body: IncidentAction | undefined; answer: IncidentView };
  /** Resolve an incident by hand. */
  "POST /v1/incidents/{incident_id}/resolve": { path: { incident_id: string }; query: {  }; body: IncidentAction | undefined; answer: IncidentView };
  /** Add a note to the thread of an incident. */
  "POST /v1/incidents/{incident_id}/notes": { path: { incident_id: string }; query: {  }; body: IncidentNote; answer: IncidentView };
  /** List messages about incidents, latest first. */
  "GET /v1/notifications": { path: {  }; query: { "channel"?: string | undefined; "state"?: "digested" | "failed" | "pending" | "sending" | "sent" | "suppressed" | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_NotificationView_ };
  /** Get a message about incidents. */
  "GET /v1/notifications/{notification_id}": { path: { notification_id: string }; query: {  }; body: undefined; answer: NotificationView };
  /** List the alert channels that the tenant may use, without their addresses. */
  "GET /v1/channels": { path: {  }; query: {  }; body: undefined; answer: ChannelList };
  /** Send a test message to a channel. */
  "POST /v1/channels/{name}/test": { path: { name: string }; query: {  }; body: undefined; answer: NotificationView };
  /** List your queues with their pauses, limits and counts of runs. */
  "GET /v1/queues": { path: {  }; query: { "all_tenants"?: boolean | undefined }; body: undefined; answer: Queues };
  /** Create a queue of your tenant. */
  "POST /v1/queues": { path: {  }; query: {  }; body: QueueDraft; answer: QueueCreated };
  /** Pause a queue. */
  "POST /v1/queues/{queue}/pause": { path: { queue: string }; query: { "all_tenants"?: boolean | undefined }; body: undefined; answer: QueueState };
  /** Resume a queue. */
  "POST /v1/queues/{queue}/resume": { path: { queue: string }; query: { "all_tenants"?: boolean | undefined }; body: undefined; answer: QueueState };
  /** Limit the concurrency and the rate of a queue. */
  "PUT /v1/queues/{queue}/limits": { path: { queue: string }; query: { "all_tenants"?: boolean | undefined }; body: LimitsDraft; answer: undefined };
  /** List the workers that execute runs of your tenant, with their kinds, queues and load. */
  "GET /v1/workers": { path: {  }; query: { "all_tenants"?: boolean | undefined; "with_dead"?: boolean | undefined }; body: undefined; answer: WorkerList };
  /** Drain a worker: finish its current runs, then stop. */
  "POST /v1/workers/{worker_id}/drain": { path: { worker_id: string }; query: {  }; body: undefined; answer: WorkerDrained };
  /** List the live schedulers with their shards. */
  "GET /v1/schedulers": { path: {  }; query: {  }; body: undefined; answer: Schedulers };
  /** List the 128 shards with their schedulers. */
  "GET /v1/shards": { path: {  }; query: {  }; body: undefined; answer: Shards };
  /** List runs, newest first. */
  "GET /v1/runs": { path: {  }; query: { "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success"> | undefined; "job_id"?: string | undefined; "kind"?: string | undefined; "queue"?: string | undefined; "worker_id"?: string | undefined; "graph_run_id"?: string | undefined; "created_after"?: string | undefined; "created_before"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_RunView_ };
  /** List the runs whose current or last attempt is on a worker. */
  "GET /v1/executions": { path: {  }; query: { "worker_id": string; "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success"> | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_RunView_ };
  /** Get a run with its payload and its result. */
  "GET /v1/runs/{run_id}": { path: { run_id: string }; query: {  }; body: undefined; answer: RunDetail };
  /** List the attempts of a run, oldest first. */
  "GET /v1/runs/{run_id}/attempts": { path: { run_id: string }; query: {  }; body: undefined; answer: Attempts };
  /** Explain in one sentence why a run waits or how it ended. */
  "GET /v1/runs/{run_id}/explain": { path: { run_id: string }; query: {  }; body: undefined; answer: RunExplanation };
  /** Cancel a run. */
  "POST /v1/runs/{run_id}/cancel": { path: { run_id: string }; query: {  }; body: CancelDraft | undefined; answer: RunStateView };
  /** Retry a dead, lost or cancelled run under the same run id. */
  "POST /v1/runs/{run_id}/retry": { path: { run_id: string }; query: {  }; body: undefined; answer: RunStateView };
  /** Replay a finished run as a new run. */
  "POST /v1/runs/{run_id}/replay": { path: { run_id: string }; query: {  }; body: ReplayDraft | undefined; answer: StartedRun };
  /** Cancel many runs. */
  "POST /v1/runs/bulk-cancel": { path: {  }; query: {  }; body: BulkDraft; answer: BulkActionResult };
  /** List dead letters: runs that are dead, lost or quarantined. */
  "GET /v1/dead-letters": { path: {  }; query: { "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success"> | undefined; "job_id"?: string | undefined; "kind"?: string | undefined; "queue"?: string | undefined; "worker_id"?: string | undefined; "graph_run_id"?: string | undefined; "created_after"?: string | undefined; "created_before"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "fingerprint"?: string | undefined; "ended_after"?: string | undefined; "ended_before"?: string | undefined }; body: undefined; answer: ListPage_RunView_ };
  /** List dead letters grouped by task and error, most recent first. */
  "GET /v1/dead-letters/groups": { path: {  }; query: { "job_id"?: string | undefined; "since"?: string | undefined; "until"?: string | undefined; "kind"?: string | undefined; "limit"?: number | undefined }; body: undefined; answer: DeadGroups };
  /** Get a group of dead letters with its newest run. */
  "GET /v1/dead-letters/groups/{kind}/{fingerprint}": { path: { kind: string; fingerprint: string }; query: { "job_id"?: string | undefined; "since"?: string | undefined; "until"?: string | undefined }; body: undefined; answer: DeadGroupDetail };
  /** Requeue dead letters unchanged. */
  "POST /v1/dead-letters/replay": { path: {  }; query: {  }; body: ReplayManyDraft; answer: BulkActionResult };
  /** Requeue dead letters with changed payloads. */
  "POST /v1/dead-letters/edit": { path: {  }; query: {  }; body: EditManyDraft; answer: BulkActionResult };
  /** Drop dead letters. */
  "POST /v1/dead-letters/drop": { path: {  }; query: {  }; body: BulkDraft; answer: BulkActionResult };
  /** Drop a dead letter. */
  "DELETE /v1/dead-letters/{run_id}": { path: { run_id: string }; query: {  }; body: undefined; answer: undefined };
  /** Send events: each starts a run of every job that waits for it. */
  "POST /v1/events": { path: {  }; query: {  }; body: EventsDraft; answer: EventReceipts };
  /** List received events, newest first. */
  "GET /v1/events": { path: {  }; query: { "type"?: string | undefined; "source"?: string | undefined; "since"?: string | undefined; "until"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_EventView_ };
  /** Get an event with its result for each job. */
  "GET /v1/events/{event_id}": { path: { event_id: string }; query: {  }; body: undefined; answer: EventView };
  /** Replay events: match them again with the current jobs and start new runs. */
  "POST /v1/events:replay": { path: {  }; query: {  }; body: EventsReplayDraft; answer: EventReplayResult };
  /** Create a rule: one condition for all subjects that match. */
  "POST /v1/expectations": { path: {  }; query: {  }; body: RuleDraft; answer: ExpectationView };
  /** List rules by name. */
  "GET /v1/expectations": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_ExpectationView_ };
  /** Get a rule. */
  "GET /v1/expectations/{expectation_id}": { path: { expectation_id: string }; query: {  }; body: undefined; answer: ExpectationView };
  /** Change a rule. */
  "PATCH /v1/expectations/{expectation_id}": { path: { expectation_id: string }; query: {  }; body: ExpectationEdit; answer: ExpectationView };
  /** Delete a rule. */
  "DELETE /v1/expectations/{expectation_id}": { path: { expectation_id: string }; query: {  }; body: undefined; answer: undefined };
  /** List what is expected of a job. */
  "GET /v1/jobs/{job_id}/expectations": { path: { job_id: string }; query: {  }; body: undefined; answer: JobExpectations };
  /** Start an external run, which the caller executes. */
  "POST /v1/runs/external": { path: {  }; query: {  }; body: ExternalDraft; answer: ExternalRun };
  /** Report that an external run continues, with its new output. */
  "POST /v1/runs/{run_id}/external": { path: { run_id: string }; query: {  }; body: ExternalRunReport; answer: ExternalRunState };
  /** End an external run with its exit code. */
  "POST /v1/runs/{run_id}/external/end": { path: { run_id: string }; query: {  }; body: ExternalEnd; answer: ExternalRunState };
  /** Stream changes of runs and jobs as events. */
  "GET /v1/feed": { path: {  }; query: {  }; body: undefined; answer: undefined };
  /** Get the graph of a job. */
  "GET /v1/jobs/{job_id}/graph": { path: { job_id: string }; query: {  }; body: undefined; answer: GraphView };
  /** Get a graph run with the state, run, times and map progress of every step. */
  "GET /v1/runs/{run_id}/graph": { path: { run_id: string }; query: {  }; body: undefined; answer: RunGraphView };
  /** List the members of a map in order. */
  "GET /v1/runs/{run_id}/members": { path: { run_id: string }; query: { "step": string; "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success"> | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_RunView_ };
  /** Retry the failed steps of a finished graph run. */
  "POST /v1/runs/{run_id}/retryFailed": { path: { run_id: string }; query: {  }; body: undefined; answer: RunStateView };
  /** Pause a graph run. */
  "POST /v1/runs/{run_id}/pause": { path: { run_id: string }; query: {  }; body: undefined; answer: RunStateView };
  /** Resume a paused graph run. */
  "POST /v1/runs/{run_id}/resume": { path: { run_id: string }; query: {  }; body: undefined; answer: RunStateView };
  /** Create a hook. */
  "POST /v1/hooks": { path: {  }; query: {  }; body: HookDraft; answer: CreatedHook };
  /** List hooks by name, without their secrets. */
  "GET /v1/hooks": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_HookView_ };
  /** Rotate the secret of a hook. */
  "POST /v1/hooks/{hook_id}/rotate": { path: { hook_id: string }; query: {  }; body: RotateDraft | undefined; answer: CreatedHook };
  /** Send an event to a hook as a signed request. */
  "POST /v1/hooks/{hook_id}": { path: { hook_id: string }; query: {  }; body: unknown; answer: EventReceipt };
  /** Delete a hook. */
  "DELETE /v1/hooks/{hook_id}": { path: { hook_id: string }; query: {  }; body: undefined; answer: undefined };
  /** Count jobs by status, with the next tick of each status. */
  "GET /v1/statistics/jobs": { path: {  }; query: {  }; body: undefined; answer: JobCountsView };
  /** Create a job. */
  "POST /v1/jobs": { path: {  }; query: {  }; body: JobDraft; answer: CreatedJob };
  /** Create up to 1,000 jobs, all or none. */
  "POST /v1/jobs/bulk": { path: {  }; query: {  }; body: JobDrafts; answer: CreatedJobs };
  /** List jobs, newest first. */
  "GET /v1/jobs": { path: {  }; query: { "type"?: "all" | "definition" | "one_time" | undefined; "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "active" | "cancelled" | "completed" | "deleted" | "enqueued" | "failed" | "finished" | "paused" | "pending" | "quarantined" | "retrying" | "running" | "scheduled" | "success"> | undefined; "user_id"?: string | undefined; "kind"?: string | undefined; "queue"?: string | undefined; "label"?: string | undefined; "q"?: string | undefined; "created_after"?: string | undefined; "created_before"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_JobView_ };
  /** Get a job. */
  "GET /v1/jobs/{job_id}": { path: { job_id: string }; query: {  }; body: undefined; answer: JobView };
  /** Update a job: only the given fields change. */
  "PUT /v1/jobs/{job_id}": { path: { job_id: string }; query: {  }; body: JobEdit; answer: JobView };
  /** Update a job, as with PUT. */
  "PATCH /v1/jobs/{job_id}": { path: { job_id: string }; query: {  }; body: JobEdit; answer: JobView };
  /** Create or update the job with this name. */
  "PUT /v1/jobs/by-name/{name}": { path: { name: string }; query: {  }; body: JobDraft; answer: JobView };
  /** Get a job by name. */
  "GET /v1/jobs/by-name/{name}": { path: { name: string }; query: {  }; body: undefined; answer: JobView };
  /** Delete a job and cancel its runs, or cancel a one-time submission. */
  "DELETE /v1/jobs/{job_id}": { path: { job_id: string }; query: { "running"?: "cancel" | "keep" | "leave" | undefined }; body: undefined; answer: undefined };
  /** Pause a job. */
  "POST /v1/jobs/{job_id}/pause": { path: { job_id: string }; query: {  }; body: PauseDraft | undefined; answer: JobView };
  /** Resume a job. */
  "POST /v1/jobs/{job_id}/resume": { path: { job_id: string }; query: {  }; body: ResumeDraft | undefined; answer: JobView };
  /** Run a job now, regardless of its schedule. */
  "POST /v1/jobs/{job_id}/runNow": { path: { job_id: string }; query: {  }; body: RunNowDraft | undefined; answer: StartedRun };
  /** Get the status of a job: its newest run, and why it waits. */
  "GET /v1/jobs/{job_id}/status": { path: { job_id: string }; query: {  }; body: undefined; answer: JobStatus };
  /** List the runs of a job, newest first. */
  "GET /v1/jobs/{job_id}/runs": { path: { job_id: string }; query: { "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success"> | undefined; "trigger"?: "api" | "backfill" | "event" | "graph" | "manual" | "replay" | "tick" | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_RunView_ };
  /** List the changes of a job, newest first: created, updated, paused, resumed, deleted. */
  "GET /v1/jobs/{job_id}/history": { path: { job_id: string }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_JobChangeView_ };
  /** Create an API key. */
  "POST /v1/keys": { path: {  }; query: {  }; body: KeyDraft; answer: CreatedKey };
  /** List the API keys of the tenant, oldest first, without their secrets. */
  "GET /v1/keys": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_KeyView_ };
  /** Revoke an API key. */
  "DELETE /v1/keys/{key_id}": { path: { key_id: string }; query: {  }; body: undefined; answer: KeyView };
  /** Create a login link for the dashboard. */
  "POST /v1/login-tickets": { path: {  }; query: {  }; body: undefined; answer: TicketView };
  /** Get the output of a run in order; with `follow=true` as a stream of events. */
  "GET /v1/runs/{run_id}/logs": { path: { run_id: string }; query: { "after"?: string | undefined; "limit"?: number | undefined; "follow"?: boolean | undefined }; body: undefined; answer: Logs };
  /** Plan a manifest: show what applying it would change, and which next runs move. */
  "POST /v1/manifests/plan": { path: {  }; query: {  }; body: ManifestDraft; answer: PlanView };
  /** Apply a manifest: make the jobs of a project match it, all or none. */
  "POST /v1/manifests/apply": { path: {  }; query: {  }; body: ApplyDraft; answer: PlanView };
  /** List the processes to scrape, for `http_sd_configs` of Prometheus. */
  "GET /v1/targets": { path: {  }; query: {  }; body: undefined; answer: Array<TargetGroup> };
  /** Get how many slots a queue could use, for an autoscaler. */
  "GET /v1/queues/{queue}/demand": { path: { queue: string }; query: { "all_tenants"?: boolean | undefined }; body: undefined; answer: DemandView };
  /** List the recent runs of several jobs: running, ended, or skipped with the reason. */
  "GET /v1/jobs/outcomes": { path: {  }; query: { "job_id"?: Array<string> | undefined; "each"?: number | undefined }; body: undefined; answer: Outcomes };
  /** Create a ping URL for work that Rota does not run. */
  "POST /v1/pings": { path: {  }; query: {  }; body: PingDraft; answer: CreatedPing };
  /** List pings by name, without their URLs. */
  "GET /v1/pings": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_PingView_ };
  /** Get a ping without its URL. */
  "GET /v1/pings/{ping_id}": { path: { ping_id: string }; query: {  }; body: undefined; answer: PingView };
  /** Replace the URL of a ping. */
  "POST /v1/pings/{ping_id}/rotate": { path: { ping_id: string }; query: {  }; body: undefined; answer: CreatedPing };
  /** Delete a ping. */
  "DELETE /v1/pings/{ping_id}": { path: { ping_id: string }; query: {  }; body: undefined; answer: undefined };
  /** Predict when the unfinished run of a job, or its next tick, will finish. */
  "GET /v1/jobs/{job_id}/prediction": { path: { job_id: string }; query: { "by"?: string | undefined }; body: undefined; answer: PredictionView };
  /** Predict when an unfinished run of a job will finish. */
  "GET /v1/runs/{run_id}/prediction": { path: { run_id: string }; query: { "by"?: string | undefined }; body: undefined; answer: PredictionView };
  /** List what is wrong now, the most severe first, each with its cause and its remedy. */
  "GET /v1/problems": { path: {  }; query: { "all_tenants"?: boolean | undefined; "fresh"?: boolean | undefined }; body: undefined; answer: ProblemList };
  /** Rehearse rules: replay them over the history and count incidents and messages. */
  "POST /v1/expectations/rehearse": { path: {  }; query: {  }; body: RehearsalDraft | undefined; answer: Rehearsal };
  /** Preview a schedule: its description, its next times and the effects of daylight saving. */
  "POST /v1/schedules/preview": { path: {  }; query: {  }; body: PreviewDraft; answer: PreviewView };
  /** Create a backfill of a past range of any length (201), or count its ticks (200). */
  "POST /v1/jobs/{job_id}/backfills": { path: { job_id: string }; query: {  }; body: BackfillPlan; answer: BackfillEstimate };
  /** Create a secret, or a new version of it. */
  "PUT /v1/secrets/{name}": { path: { name: string }; query: {  }; body: SecretDraft; answer: SecretView };
  /** List the names of secrets. */
  "GET /v1/secrets": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_SecretView_ };
  /** Delete a secret with all its versions. */
  "DELETE /v1/secrets/{name}": { path: { name: string }; query: {  }; body: undefined; answer: undefined };
  /** Get the caller's key, tenant and role. */
  "GET /v1/whoami": { path: {  }; query: {  }; body: undefined; answer: WhoAmI };
  /** Get the OpenAPI 3.1 document of this API. */
  "GET /v1/openapi.json": { path: {  }; query: {  }; body: undefined; answer: Record<string, unknown> };
  /** List silences, latest end first. */
  "GET /v1/silences": { path: {  }; query: { "ended"?: boolean | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_SilenceView_ };
  /** Silence incidents. */
  "POST /v1/silences": { path: {  }; query: {  }; body: SilenceDraft; answer: SilenceView };
  /** End a silence now. */
  "DELETE /v1/silences/{silence_id}": { path: { silence_id: string }; query: {  }; body: undefined; answer: undefined };
  /** List event sources with their readers, progress and last errors. */
  "GET /v1/sources": { path: {  }; query: {  }; body: undefined; answer: Sources };
  /** Get statistics: runs by outcome, waits, durations, queue depths and late ticks. */
  "GET /v1/statistics": { path: {  }; query: { "since"?: string | undefined }; body: undefined; answer: StatisticsView };
  /** Get statistics over time: the last hour by minute, day by hour, or month by day. */
  "GET /v1/statistics/series": { path: {  }; query: { "span"?: "day" | "hour" | "month" | undefined }; body: undefined; answer: SeriesView };
  /** List tasks by kind, with their load and the figures of the last hour. */
  "GET /v1/tasks": { path: {  }; query: { "q"?: string | undefined; "served"?: boolean | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_TaskItem_ };
  /** Get a task with its description, workers and figures. */
  "GET /v1/tasks/{kind}": { path: { kind: string }; query: { "window"?: "1h" | "24h" | "30d" | "7d" | undefined }; body: undefined; answer: TaskView };
  /** Create a tenant. */
  "POST /v1/tenants": { path: {  }; query: {  }; body: TenantDraft; answer: TenantView };
  /** List tenants, oldest first. */
  "GET /v1/tenants": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_TenantView_ };
  /** Get a tenant. */
  "GET /v1/tenants/{tenant_id}": { path: { tenant_id: string }; query: {  }; body: undefined; answer: TenantView };
  /** Update the weight or the quotas of a tenant. */
  "PATCH /v1/tenants/{tenant_id}": { path: { tenant_id: string }; query: {  }; body: TenantEdit; answer: TenantView };
  /** Delete a tenant that has no jobs. */
  "DELETE /v1/tenants/{tenant_id}": { path: { tenant_id: string }; query: {  }; body: undefined; answer: undefined };
  /** Pause a tenant. */
  "POST /v1/tenants/{tenant_id}/pause": { path: { tenant_id: string }; query: {  }; body: undefined; answer: TenantView };
  /** Resume a tenant. */
  "POST /v1/tenants/{tenant_id}/resume": { path: { tenant_id: string }; query: {  }; body: undefined; answer: TenantView };
  /** Create an API key for a tenant. */
  "POST /v1/tenants/{tenant_id}/keys": { path: { tenant_id: string }; query: {  }; body: KeyDraft; answer: CreatedKey };
  /** Count the upcoming ticks of all jobs by minute or hour. */
  "GET /v1/schedules/load": { path: {  }; query: { "since"?: string | undefined; "until"?: string | undefined; "bucket"?: "hour" | "minute" | undefined }; body: undefined; answer: LoadView };
  /** List the kinds of jobs that workers serve, with the schemas of their payloads. */
  "GET /v1/kinds": { path: {  }; query: {  }; body: undefined; answer: Kinds };
  /** List users by name, with their numbers of jobs and valid keys. */
  "GET /v1/users": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_UserView_ };
  /** Get a user. */
  "GET /v1/users/{user_id}": { path: { user_id: string }; query: {  }; body: undefined; answer: UserView };
  /** Revoke all keys of a user. */
  "DELETE /v1/users/{user_id}/keys": { path: { user_id: string }; query: {  }; body: undefined; answer: KeysRevoked };
  /** Subscribe a URL to events. */
  "POST /v1/webhooks": { path: {  }; query: {  }; body: WebhookDraft; answer: CreatedWebhook };
  /** List webhook endpoints by name, without their secrets. */
  "GET /v1/webhooks": { path: {  }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_WebhookView_ };
  /** Get a webhook endpoint: subscription, health, and how many deliveries wait. */
  "GET /v1/webhooks/{webhook_id}": { path: { webhook_id: string }; query: {  }; body: undefined; answer: WebhookView };
  /** Change a subscription. Deliveries that wait are sent to the new URL. */
  "PATCH /v1/webhooks/{webhook_id}": { path: { webhook_id: string }; query: {  }; body: WebhookEdit; answer: WebhookView };
  /** Delete a webhook endpoint. Deliveries that wait are not sent. */
  "DELETE /v1/webhooks/{webhook_id}": { path: { webhook_id: string }; query: {  }; body: undefined; answer: undefined };
  /** Replace the secret of a webhook endpoint. */
  "POST /v1/webhooks/{webhook_id}/rotate": { path: { webhook_id: string }; query: {  }; body: WebhookRotateDraft | undefined; answer: CreatedWebhook };
  /** Disable a webhook endpoint. Its deliveries are held for 14 days. */
  "POST /v1/webhooks/{webhook_id}/disable": { path: { webhook_id: string }; query: {  }; body: undefined; answer: WebhookView };
  /** Enable a webhook endpoint, and decide about its held deliveries. */
  "POST /v1/webhooks/{webhook_id}/enable": { path: { webhook_id: string }; query: {  }; body: WebhookEnableDraft | undefined; answer: EnabledWebhook };
  /** Send a test event to a webhook endpoint. */
  "POST /v1/webhooks/{webhook_id}/test": { path: { webhook_id: string }; query: {  }; body: undefined; answer: DeliveryView };
  /** Send deliveries of a webhook endpoint again, at a pace. */
  "POST /v1/webhooks/{webhook_id}/replay": { path: { webhook_id: string }; query: {  }; body: WebhookReplayDraft; answer: ReplayedDeliveries };
  /** List the deliveries of a webhook endpoint, newest event first. They are kept for 14 days. */
  "GET /v1/webhooks/{webhook_id}/deliveries": { path: { webhook_id: string }; query: { "state"?: "all" | "delivered" | "dropped" | "failed" | "held" | "pending" | undefined; "type"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: ListPage_DeliveryView_ };
  /** Get a delivery: its request, the last response and its attempts. */
  "GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}": { path: { webhook_id: string; delivery_id: string }; query: {  }; body: undefined; answer: DeliveryDetails };
  /** Send a delivery again, with the same `webhook-id`. */
  "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": { path: { webhook_id: string; delivery_id: string }; query: {  }; body: undefined; answer: DeliveryView };
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
/** The permissions of each role. */
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
/** The permission that each operation needs. */
export const NEEDS = {
  "PUT /v1/routes/{name}": "define",
  "GET /v1/routes": "read",
  "GET /v1/routes/{name}": "read",
  "DELETE /v1/routes/{name}": "define",
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
  "GET /v1/incidents": "read",
  "GET /v1/incidents/{incident_id}": "read",
  "POST /v1/incidents/{incident_id}/acknowledge": "operate",
  "POST /v1/incidents/{incident_id}/resolve": "operate",
  "POST /v1/incidents/{incident_id}/notes": "operate",
  "GET /v1/notifications": "read",
  "GET /v1/notifications/{notification_id}": "read",
  "GET /v1/channels": "read",
  "POST /v1/channels/{name}/test": "operate",
  "GET /v1/queues": "read",
  "POST /v1/queues": "manage",
  "POST /v1/queues/{queue}/pause": "manage",
  "POST /v1/queues/{queue}/resume": "manage",
  "PUT /v1/queues/{queue}/limits": "manage",
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
  "GET /v1/dead-letters/groups/{kind}/{fingerprint}": "read",
  "POST /v1/dead-letters/replay": "operate",
  "POST /v1/dead-letters/edit": "operate",
  "POST /v1/dead-letters/drop": "operate",
  "DELETE /v1/dead-letters/{run_id}": "operate",
  "POST /v1/events": "operate",
  "GET /v1/events": "read",
  "GET /v1/events/{event_id}": "read",
  "POST /v1/events:replay": "operate",
  "POST /v1/expectations": "define",
  "GET /v1/expectations": "read",
  "GET /v1/expectations/{expectation_id}": "read",
  "PATCH /v1/expectations/{expectation_id}": "define",
  "DELETE /v1/expectations/{expectation_id}": "define",
  "GET /v1/jobs/{job_id}/expectations": "read",
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
  "GET /v1/statistics/jobs": "read",
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
  "GET /v1/jobs/{job_id}/history": "read",
  "POST /v1/keys": "manage",
  "GET /v1/keys": "manage",
  "DELETE /v1/keys/{key_id}": "manage",
  "POST /v1/login-tickets": "read",
  "GET /v1/runs/{run_id}/logs": "read",
  "POST /v1/manifests/plan": "read",
  "POST /v1/manifests/apply": "define",
  "GET /v1/targets": "platform",
  "GET /v1/queues/{queue}/demand": "read",
  "GET /v1/jobs/outcomes": "read",
  "POST /v1/pings": "define",
  "GET /v1/pings": "read",
  "GET /v1/pings/{ping_id}": "read",
  "POST /v1/pings/{ping_id}/rotate": "define",
  "DELETE /v1/pings/{ping_id}": "define",
  "GET /v1/jobs/{job_id}/prediction": "read",
  "GET /v1/runs/{run_id}/prediction": "read",
  "GET /v1/problems": "read",
  "POST /v1/expectations/rehearse": "read",
  "POST /v1/schedules/preview": "read",
  "POST /v1/jobs/{job_id}/backfills": "operate",
  "PUT /v1/secrets/{name}": "manage",
  "GET /v1/secrets": "manage",
  "DELETE /v1/secrets/{name}": "manage",
  "GET /v1/whoami": "read",
  "GET /v1/silences": "read",
  "POST /v1/silences": "operate",
  "DELETE /v1/silences/{silence_id}": "operate",
  "GET /v1/sources": "read",
  "GET /v1/statistics": "read",
  "GET /v1/statistics/series": "read",
  "GET /v1/tasks": "read",
  "GET /v1/tasks/{kind}": "read",
  "POST /v1/tenants": "platform",
  "GET /v1/tenants": "platform",
  "GET /v1/tenants/{tenant_id}": "platform",
  "PATCH /v1/tenants/{tenant_id}": "platform",
  "DELETE /v1/tenants/{tenant_id}": "platform",
  "POST /v1/tenants/{tenant_id}/pause": "platform",
  "POST /v1/tenants/{tenant_id}/resume": "platform",
  "POST /v1/tenants/{tenant_id}/keys": "platform",
  "GET /v1/schedules/load": "read",
  "GET /v1/kinds": "read",
  "GET /v1/users": "read",
  "GET /v1/users/{user_id}": "read",
  "DELETE /v1/users/{user_id}/keys": "manage",
  "POST /v1/webhooks": "define",
  "GET /v1/webhooks": "read",
  "GET /v1/webhooks/{webhook_id}": "read",
  "PATCH /v1/webhooks/{webhook_id}": "define",
  "DELETE /v1/webhooks/{webhook_id}": "define",
  "POST /v1/webhooks/{webhook_id}/rotate": "define",
  "POST /v1/webhooks/{webhook_id}/disable": "operate",
  "POST /v1/webhooks/{webhook_id}/enable": "operate",
  "POST /v1/webhooks/{webhook_id}/test": "operate",
  "POST /v1/webhooks/{webhook_id}/replay": "operate",
  "GET /v1/webhooks/{webhook_id}/deliveries": "read",
  "GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}": "read",
  "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": "operate"
} as const;
