// What the API takes and gives. Rendered from src/rota/api by `make generate`; do not edit.

export interface AllTenantsQuery {
  /** Whether it is about every tenant; `true` needs a platform key. Default: true for a platform key, false for other keys. */
  "all_tenants"?: boolean;
}

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
  "traceback": Array<TracebackError> | null;
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

/** Who did what, when and from where. `source` is the client's address. `origin` is what made the change: `code` (an app that declares jobs), `file` (`rota apply`), `import`, `cli`, `dashboard`, `api`, or `transaction` (`rota.within`); null for entries of earlier releases. */
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

/** One run for several events. */
export interface BatchDocument {
  /** How many events complete a batch. */
  "size": number;
  /** How long a batch waits for more events, from 1 second to 7 days. */
  "within": string;
  /** An expression over `event`; events with different values are gathered apart. Default: all events together. */
  "key"?: string | null;
}

/** Runs that ended from `start` on. The percentiles of their lags are to a twentieth. */
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
  /** Dead letters with this fingerprint of their error. Default: any. */
  "fingerprint"?: string | null;
  /** Ended at this time or later; if unfinished, made. */
  "since"?: string | null;
  /** Ended before this time; if unfinished, made. */
  "until"?: string | null;
}

/** `is_estimate`: its schedule has too many ticks to walk. Cron and intervals are exact. */
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

/** Times in which nothing starts, on the wall clock of one zone. One window is required. */
export interface CalendarDocument {
  /** The name by which schedules refer to it. Default: the name that the request or the file gives it. */
  "name"?: string | null;
  /** The IANA name of the zone that its windows are in. Default: UTC. */
  "timezone"?: string | null;
  /** Whole days, such as `2026-12-25`. Default: none. */
  "dates"?: Array<string> | null;
  /** Stretches of local time. Default: none. */
  "ranges"?: Array<RangeDocument> | null;
  /** Parts of every week. Default: none. */
  "weekly"?: Array<WeeklyDocument> | null;
  /** Days of every year, such as `12-25`. Default: none. */
  "yearly"?: Array<string> | null;
  /** Windows that begin by recurrence rules. Default: none. */
  "recurring"?: Array<RecurringDocument> | null;
}

/** A calendar in the form of docs/reference/schedules.md; its name is in the path. */
export interface CalendarDraft {
  /** A calendar in the form of docs/reference/schedules.md. */
  "calendar": CalendarDocument;
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

/** Which of the ticks that were not run in time are run after all. */
export type CatchUp = "all" | "once" | "skip";

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

/** One field, by its path. `is_shown` is false for a payload and for values that are too long: the log keeps only that they changed. */
export interface ChangedFieldView {
  "field": string;
  "before": unknown;
  "after": unknown;
  "is_shown": boolean;
}

/** How a day-of-month and a day-of-week that are both given go together. */
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

/** A job of the group and how many of the group are its runs. All one-time submissions together are one entry, without id and name. */
export interface DeadGroupJob {
  "job_id": string | null;
  "job_name": string | null;
  "count": number;
}

export interface DeadGroupQuery {
  /** Runs of this job. Default: any job, and one-time submissions. */
  "job_id"?: string | null;
  /** Ended at this time or later. Default: 30 days ago. */
  "since"?: string | null;
  /** Ended before this time. Default: now. */
  "until"?: string | null;
}

/** Dead letters of one task that failed alike: the same type of error, the same message apart from numbers and ids, the same innermost frame of the user's code. `message` is that of the newest. `frame` is `module:function`; null if the task runs no Python code of the user. `counts_per_hour` has the last 24 hours before `until`, the oldest first. `versions` are the definition versions of the jobs. `jobs` has at most the five with the most failures, `job_count` says how many there are. With `kind`, `fingerprint`, `since` and `until` as a filter, the list, the replay, the edit and the drop mean exactly these. */
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

/** Groups of the dead letters that ended from `since` on and before `until`. `is_partial`: only the newest are grouped; `count` and `first_seen` do not consider older ones. */
export interface DeadGroups {
  "data": Array<DeadGroupView>;
  "since": string;
  "until": string;
  "is_partial": boolean;
}

export interface DeadGroupsQuery {
  /** Runs of this job. Default: any job, and one-time submissions. */
  "job_id"?: string | null;
  /** Ended at this time or later. Default: 30 days ago. */
  "since"?: string | null;
  /** Ended before this time. Default: now. */
  "until"?: string | null;
  /** Of this task. Default: any. */
  "kind"?: string | null;
  /** How many of them at most. */
  "limit"?: number;
}

export interface DeadLettersQuery {
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
  /** Dead letters with this fingerprint of their error. Default: any. */
  "fingerprint"?: string | null;
  /** Ended at this time or later. Default: any. */
  "ended_after"?: string | null;
  /** Ended before this time. Default: any. */
  "ended_before"?: string | null;
}

/** One run, with the latest event, after a time without another event. */
export interface DebounceDocument {
  /** How long no other event must arrive, from 1 second to 7 days. */
  "quiet": string;
  /** How long a run may be put off in all, up to 7 days. Default: 10 times `quiet`, at most 7 days. */
  "most"?: string | null;
  /** An expression over `event`; events with different values are gathered apart. Default: all events together. */
  "key"?: string | null;
}

export interface DeclaredCalendar {
  /** What schedules name it by. */
  "name": string;
  /** A calendar in the form of docs/reference/schedules.md. */
  "calendar": CalendarDocument;
}

/** A job as a file declares it: a field that is left out has its default. Without a schedule it runs on demand. A limit is lifted by `none`; null is what an empty field of YAML is. */
export interface DeclaredJob {
  /** What it is known by; a new name is a new job. */
  "name": string;
  /** The handler that executes it. Default: the name. */
  "kind"?: string;
  /** Another name for `kind`, which also knows the names of other schedulers, such as `HTTP_REQUEST`. Default: `kind`. */
  "job_type"?: string;
  /** As in docs/reference/schedules.md. Default: run at once. */
  "schedule"?: ScheduleDocument;
  /** What the schedule is; refused if the schedule is another. Default: derived from the schedule. */
  "schedule_type"?: "CRON" | "DELAYED" | "EVENT" | "FUTURE" | "IMMEDIATE" | "INTERVAL" | "MIXED" | "ON_DEMAND" | "RRULE";
  /** Run once, at this time. Short for `schedule.at`. Default: none. */
  "schedule_time"?: string;
  /** Run by this expression. Short for `schedule.cron`. Default: none. */
  "cron_expression"?: string;
  /** An IANA name for the flat fields. Default: UTC. */
  "timezone"?: string;
  /** What the handler is given. Default: null. */
  "payload"?: unknown;
  /** With the kind `graph`: its steps, as in docs/howto/graphs.md. Default: null. */
  "graph"?: GraphDocument | null;
  /** Attempts after the first one. Short for `retries.max`. Default: 3. */
  "max_retries"?: number;
  /** A number of attempts after the first one, or how often and how soon a failed run is tried again. Default: 3. */
  "retries"?: number | RetriesDraft;
  /** The longest an attempt may take, at most 24 hours; `none` is no limit. Default: 15 minutes. */
  "timeout"?: string;
  /** How long after its due time a run may go on; `none` is no limit. Default: `none`. */
  "deadline"?: string;
  /** From asking an attempt to stop to ending it by force, at most 10 minutes. Default: 10 s. */
  "grace"?: string;
  /** What happens if a worker is lost. `exactly_once` needs a handler that completes its run in `ctx.transaction()`; other kinds refuse it. Default: `at_least_once`. */
  "guarantee"?: "at_least_once" | "at_most_once" | "exactly_once";
  /** What its attempts depend on. While it does not answer, runs wait instead of using up their retries. `none`, or null in JSON, restores the default. Default: the host or the connection of kinds that have one. */
  "target"?: string | null;
  /** The workers that serve it. Default: `default`. */
  "queue"?: string;
  /** From 0, which goes first, to 9, or high, medium, normal, low. Default: 5. */
  "priority"?: number | "high" | "low" | "medium" | "normal";
  /** What happens when it is due while a run of it is alive. Default: `skip`. */
  "overlap"?: "allow" | "cancel_running" | "queue_all" | "queue_one" | "skip" | "terminate_running";
  /** With `queue_one`: the run that waits stays, the new one is skipped. Default: false. */
  "keep_first"?: boolean;
  /** What happens when it is due while its queue is paused. Default: `skip`. */
  "when_queue_paused"?: "accumulate" | "skip";
  /** Limits that its runs share with others of the same key. Default: none. */
  "limits"?: Array<LimitDraft>;
  /** Names and values of your own, to find it by. Default: none. */
  "labels"?: Record<string, string>;
  /** Whose job it is, for your own bookkeeping. Default: null. */
  "user_id"?: string | null;
  /** What the job is for, in your words; at most 1,000 characters. Default: null. */
  "description"?: string | null;
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

/** What happens to local times when clocks change. */
export interface DstDocument {
  /** A local time that the clock jumps over: `run_after` runs it at the first instant after the jump, `shift` the same minutes later, `skip` not at all. Default: run_after. */
  "gap"?: DstGap | null;
  /** Which of two equal local times runs. Default: first. */
  "overlap"?: DstOverlap | null;
}

/** What becomes of a local time that the clock jumps over. */
export type DstGap = "run_after" | "shift" | "skip";

/** Which of two equal local times counts when the clock is set back. */
export type DstOverlap = "both" | "first" | "second";

/** The same, and how payloads change. Each becomes a new run, and the dead one is dropped. */
export interface EditManyDraft {
  /** Which runs; at least one of its fields must be said. */
  "filter": BulkFilter;
  /** Only count them, and answer the token to do it. */
  "dry_run"?: boolean;
  /** The token of a dry run with the same filter. */
  "token"?: string | null;
  /** How many may begin in a minute. Default: all at once. */
  "per_minute"?: number | null;
  /** How many were let go by calls before this one, at the same pace. */
  "before"?: number;
  /** A JSON merge patch (RFC 7396) for the payload of each run: its fields replace those of the payload, and null removes a field. A dry run needs none. */
  "patch"?: Record<string, unknown>;
}

export interface EventDraft {
  /** Where it comes from. Default: `api`. */
  "source"?: string;
  /** Its id: the same source and id again are the same event. Default: a new id. */
  "id"?: string;
  /** RFC 3339, such as 2026-07-01T12:00:00Z. */
  "time"?: string;
  /** What it is about. Default: none. */
  "subject"?: string;
  /** Any JSON that describes what happened. Default: null. */
  "data"?: unknown;
  /** What happened, as in order.paid. */
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

/** Events of a type, or of all types below one, for which `where` is true. */
export interface EventMatchDocument {
  /** The type of the events: `order.paid`, `order.*` for every type below `order`, or `*`. */
  "type": string;
  /** An expression over `event` that must be true. Default: every event of the type. */
  "where"?: string | null;
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
  /** Where it comes from. Default: `api`. */
  "source"?: string;
  /** Its id: the same source and id again are the same event. Default: a new id. */
  "id"?: string;
  /** RFC 3339, such as 2026-07-01T12:00:00Z. */
  "time"?: string;
  /** What it is about. Default: none. */
  "subject"?: string;
  /** Any JSON that describes what happened. Default: null. */
  "data"?: unknown;
  /** What happened, as in order.paid. Default: none; `events` is required. */
  "type"?: string;
  /** Several events: all are taken, or none. Default: the one event. */
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

/** A fixed rate, start to start: anchor + n · interval. */
export interface EveryDocument {
  /** The distance of two ticks, at least 1 second. */
  "interval": string;
  /** The instant that ticks are counted from. Default: the start of `window`, or the second in which the schedule is saved. */
  "anchor"?: string | null;
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

/** A fixed delay after the end of the last run. */
export interface FixedDelayDocument {
  /** The time from the end of a run to the next, at least 1 second. */
  "delay": string;
  /** The instant that stands for the end of a run before the first. Default: the start of `window`, or the second in which the schedule is saved. */
  "anchor"?: string | null;
}

/** Steps that wait for each other. */
export interface GraphDocument {
  /** The steps, in any order. */
  "steps": Array<StepDocument>;
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
  /** A secret that the sender has made. Default: drawn at random. */
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

/** A delay that spreads ticks which would otherwise start at one instant. */
export interface JitterDocument {
  /** The offset of a tick is below this, from 1 second to 1 day. */
  "window": string;
  /** Use one offset for all ticks of the job. Default: false. */
  "stable"?: boolean | null;
}

/** One change of a job: who made it, when, by which means, and what became different. `origin` is `code` (an app that declares jobs), `file` (`rota apply`), `import`, `cli`, `dashboard`, `api`, or `transaction` (`rota.within`); null for changes by earlier releases. `version` is the version that the job has since; null if the entry does not say. `details` is what else the entry says, such as the reason of a pause. */
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

/** `next_fire_time` is the earliest of these jobs; null if none of them fires again. */
export interface JobCountView {
  "status": string;
  "count": number;
  "next_fire_time": string | null;
}

export interface JobCountsView {
  "data": Array<JobCountView>;
  /** False if there are more jobs than were counted; the newest were. */
  "is_complete": boolean;
}

/** A job that is to be made. Without a kind its name is its kind; without a name it gets one. */
export interface JobDraft {
  /** Unique in the tenant among jobs that are not deleted. */
  "name"?: string;
  /** The handler that executes it. Default: the name. */
  "kind"?: string;
  /** Another name for `kind`, which also knows the names of other schedulers, such as `HTTP_REQUEST`. Default: `kind`. */
  "job_type"?: string;
  /** As in docs/reference/schedules.md. Default: run at once. */
  "schedule"?: ScheduleDocument;
  /** What the schedule is; refused if the schedule is another. Default: derived from the schedule. */
  "schedule_type"?: "CRON" | "DELAYED" | "EVENT" | "FUTURE" | "IMMEDIATE" | "INTERVAL" | "MIXED" | "ON_DEMAND" | "RRULE";
  /** Run once, at this time. Short for `schedule.at`. Default: none. */
  "schedule_time"?: string;
  /** Run by this expression. Short for `schedule.cron`. Default: none. */
  "cron_expression"?: string;
  /** An IANA name for the flat fields. Default: UTC. */
  "timezone"?: string;
  /** What the handler is given. Default: null. */
  "payload"?: unknown;
  /** With the kind `graph`: its steps, as in docs/howto/graphs.md. Default: null. */
  "graph"?: GraphDocument | null;
  /** Attempts after the first one. Short for `retries.max`. Default: 3. */
  "max_retries"?: number;
  /** A number of attempts after the first one, or how often and how soon a failed run is tried again. Default: 3. */
  "retries"?: number | RetriesDraft;
  /** The longest an attempt may take, at most 24 hours. `none`, or null in JSON, is no limit. Default: 15 minutes. */
  "timeout"?: string | null;
  /** How long after its due time a run may go on. `none`, or null in JSON, is no limit. Default: no limit. */
  "deadline"?: string | null;
  /** From asking an attempt to stop to ending it by force, at most 10 minutes. Default: 10 s. */
  "grace"?: string;
  /** What happens if a worker is lost. `exactly_once` needs a handler that completes its run in `ctx.transaction()`; other kinds refuse it. Default: `at_least_once`. */
  "guarantee"?: "at_least_once" | "at_most_once" | "exactly_once";
  /** What its attempts depend on. While it does not answer, runs wait instead of using up their retries. `none`, or null in JSON, restores the default. Default: the host or the connection of kinds that have one. */
  "target"?: string | null;
  /** The workers that serve it. Default: `default`. */
  "queue"?: string;
  /** From 0, which goes first, to 9, or high, medium, normal, low. Default: 5. */
  "priority"?: number | "high" | "low" | "medium" | "normal";
  /** What happens when it is due while a run of it is alive. Default: `skip`. */
  "overlap"?: "allow" | "cancel_running" | "queue_all" | "queue_one" | "skip" | "terminate_running";
  /** With `queue_one`: the run that waits stays, the new one is skipped. Default: false. */
  "keep_first"?: boolean;
  /** What happens when it is due while its queue is paused. Default: `skip`. */
  "when_queue_paused"?: "accumulate" | "skip";
  /** Limits that its runs share with others of the same key. Default: none. */
  "limits"?: Array<LimitDraft>;
  /** Names and values of your own, to find it by. Default: none. */
  "labels"?: Record<string, string>;
  /** Whose job it is, for your own bookkeeping. Default: null. */
  "user_id"?: string | null;
  /** What the job is for, in your words; at most 1,000 characters. Default: null. */
  "description"?: string | null;
  /** Of equal submissions only one becomes a run. Default: no such rule. */
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
  /** The handler that executes it. Default: the name. */
  "kind"?: string;
  /** Another name for `kind`, which also knows the names of other schedulers, such as `HTTP_REQUEST`. Default: `kind`. */
  "job_type"?: string;
  /** As in docs/reference/schedules.md. Default: run at once. */
  "schedule"?: ScheduleDocument;
  /** What the schedule is; refused if the schedule is another. Default: derived from the schedule. */
  "schedule_type"?: "CRON" | "DELAYED" | "EVENT" | "FUTURE" | "IMMEDIATE" | "INTERVAL" | "MIXED" | "ON_DEMAND" | "RRULE";
  /** Run once, at this time. Short for `schedule.at`. Default: none. */
  "schedule_time"?: string;
  /** Run by this expression. Short for `schedule.cron`. Default: none. */
  "cron_expression"?: string;
  /** An IANA name for the flat fields. Default: UTC. */
  "timezone"?: string;
  /** What the handler is given. Default: null. */
  "payload"?: unknown;
  /** With the kind `graph`: its steps, as in docs/howto/graphs.md. Default: null. */
  "graph"?: GraphDocument | null;
  /** Attempts after the first one. Short for `retries.max`. Default: 3. */
  "max_retries"?: number;
  /** A number of attempts after the first one, or how often and how soon a failed run is tried again. Default: 3. */
  "retries"?: number | RetriesDraft;
  /** The longest an attempt may take, at most 24 hours. `none`, or null in JSON, is no limit. Default: 15 minutes. */
  "timeout"?: string | null;
  /** How long after its due time a run may go on. `none`, or null in JSON, is no limit. Default: no limit. */
  "deadline"?: string | null;
  /** From asking an attempt to stop to ending it by force, at most 10 minutes. Default: 10 s. */
  "grace"?: string;
  /** What happens if a worker is lost. `exactly_once` needs a handler that completes its run in `ctx.transaction()`; other kinds refuse it. Default: `at_least_once`. */
  "guarantee"?: "at_least_once" | "at_most_once" | "exactly_once";
  /** What its attempts depend on. While it does not answer, runs wait instead of using up their retries. `none`, or null in JSON, restores the default. Default: the host or the connection of kinds that have one. */
  "target"?: string | null;
  /** The workers that serve it. Default: `default`. */
  "queue"?: string;
  /** From 0, which goes first, to 9, or high, medium, normal, low. Default: 5. */
  "priority"?: number | "high" | "low" | "medium" | "normal";
  /** What happens when it is due while a run of it is alive. Default: `skip`. */
  "overlap"?: "allow" | "cancel_running" | "queue_all" | "queue_one" | "skip" | "terminate_running";
  /** With `queue_one`: the run that waits stays, the new one is skipped. Default: false. */
  "keep_first"?: boolean;
  /** What happens when it is due while its queue is paused. Default: `skip`. */
  "when_queue_paused"?: "accumulate" | "skip";
  /** Limits that its runs share with others of the same key. Default: none. */
  "limits"?: Array<LimitDraft>;
  /** Names and values of your own, to find it by. Default: none. */
  "labels"?: Record<string, string>;
  /** Whose job it is, for your own bookkeeping. Default: null. */
  "user_id"?: string | null;
  /** What the job is for, in your words; at most 1,000 characters. Default: null. */
  "description"?: string | null;
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

/** A job as it is now: the fields of the contract, and what Rota says about it. */
export interface JobView {
  "job_id": string;
  "name": string;
  "kind": string;
  "schedule": Record<string, unknown> | null;
  "payload": unknown;
  /** The steps of a graph; null for another kind, and in lists. */
  "graph": Record<string, unknown> | null;
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
  "description": string | null;
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

export interface JobsMade {
  "jobs": Array<JobMade>;
}

export interface JobsQuery {
  /** `definition` lists jobs that can run more than once, `one_time` lists one-time submissions, `all` lists both. Default: `all` if `status` asks for `pending` or `running`, which are about runs; otherwise `definition`. */
  "type"?: "all" | "definition" | "one_time";
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
  /** How many may run at a time. Default: no limit. */
  "max"?: number | null;
  /** How many may start per time. Default: no limit. */
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

/** `buckets` are those with ticks. `unknown` jobs run again some time after they have ended. `is_estimate`: a job is an estimate, or there are more schedules than are read for one answer. */
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

/** A step with many members: one for each item. Either `over` or `source` is required. */
export interface MapDocument {
  /** An expression for a list or a number, or a list or number itself. Default: `source` yields the items. */
  "over"?: string | Array<unknown> | number | null;
  /** The handler that yields the items. Default: they are `over`. */
  "source"?: MapSourceDocument | null;
  /** How many members may fail: a number, or a share such as `5%`. Default: 0. */
  "tolerate"?: number | string | null;
  /** How many members may run at a time. Default: as many as the workers take. */
  "at_once"?: number | null;
}

/** The handler that yields the items of a map. */
export interface MapSourceDocument {
  /** The kind of the handler. */
  "kind": string;
  /** Its payload, which may have places to fill. Default: null. */
  "payload"?: unknown;
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

/** What happens to ticks that did not run in time. */
export interface MisfireDocument {
  /** Ticks that no scheduler decided in time. Default: once. */
  "on_outage"?: CatchUp | null;
  /** Ticks that were due while the job was paused. Default: skip. */
  "on_resume"?: CatchUp | null;
  /** Ticks that the new schedule would have had since the last decided tick. Default: skip. */
  "on_edit"?: CatchUp | null;
  /** A tick that is later than this never runs; at least 30 seconds. Default: no deadline. */
  "start_deadline"?: string | null;
  /** With `all`: the newest so many ticks run. Default: 100. */
  "max_catchup"?: number | null;
  /** The rate at which missed ticks are run: `10/min`, `1/s`, `100/PT15M`. Default: all at once. */
  "pace"?: string | null;
  /** A tick that is at most this late is on time, from 1 second to 1 day. Default: 1 minute. */
  "late_after"?: string | null;
}

/** What becomes of a tick inside a blackout. */
export type OnBlackout = "advance" | "defer" | "skip";

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
export interface Page_JobChangeView_ {
  "data": Array<JobChangeView>;
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
export interface Page_TaskItem_ {
  "data": Array<TaskItem>;
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
  /** Kinds of these jobs that no worker serves, and what to do. */
  "warnings": Array<string>;
}

/** A schedule that is not saved yet. */
export interface PreviewDraft {
  /** A schedule in the form of docs/reference/schedules.md. */
  "schedule": ScheduleDocument;
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

export interface QueueCreated {
  "name": string;
}

/** A queue of one's own to create. */
export interface QueueDraft {
  /** 1 to 63 of a-z, 0-9, dot, dash and underscore, beginning with a letter or digit. */
  "name": string;
}

export interface QueueState {
  "name": string;
  "is_paused": boolean;
  /** Whether this holds for every tenant, or for the caller's. */
  "is_for_all": boolean;
}

/** A queue, and what of the caller's tenant is in it. Counts end at 10,000. */
export interface QueueView {
  "name": string;
  "is_paused": boolean;
  /** Whether it was paused for every tenant with a platform key. */
  "is_paused_for_all": boolean;
  "paused_at": string | null;
  /** How many may run at a time: of the tenant's own runs, or of all tenants' if it set no limit. */
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

/** What a tenant may have at most. A quota that is absent has its default; null lifts it. */
export interface QuotasDraft {
  /** Jobs that are not finished or deleted. Default: 1,000,000. */
  "max_jobs"?: number | null;
  /** Runs that wait. Default: 5,000,000. */
  "max_queued"?: number | null;
  /** Runs at a time. Default: no limit. */
  "max_running"?: number | null;
  /** Runs that start in a second. Default: no limit. */
  "runs_per_s"?: number | null;
  /** The shortest time between two ticks of a job, 1 second to 1 day. Default: no limit. */
  "min_period"?: string | null;
  /** New queue names that its submissions make. Default: 10,000. */
  "max_queues"?: number | null;
  /** New kind names that its submissions make. Default: 100,000. */
  "max_kinds"?: number | null;
  /** Keys of limits, such as one per customer. Default: 1,000,000. */
  "max_limit_keys"?: number | null;
  /** Hooks. Default: 1,000. */
  "max_hooks"?: number | null;
  /** Calendars. Default: 100. */
  "max_calendars"?: number | null;
  /** Secrets. Default: 200. */
  "max_secrets"?: number | null;
  /** Valid API keys. Default: 100. */
  "max_keys"?: number | null;
}

/** One stretch of local time. */
export interface RangeDocument {
  /** A date, or a local time without an offset. */
  "start": string;
  /** A date, which is part of the range, or a local time. */
  "end": string;
}

/** So many starts per time, of which `burst` may come at once. */
export interface RateDraft {
  /** So many starts … */
  "count": number;
  /** … in this time, at most a year. */
  "per": string;
  /** How many of them may come at once. Default: 1. */
  "burst"?: number;
}

/** A window at each time of a recurrence rule. */
export interface RecurringDocument {
  /** When the window begins: an RRULE, at most 24 times a day. */
  "rrule": string;
  /** How long the window is, from 1 second to 31 days. */
  "length": string;
}

export interface ReplayDraft {
  /** A payload to use instead. Default: the payload that the run used. */
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
  /** How many may begin in a minute. Default: all at once. */
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

/** How often and how soon a failed run is tried again. Null counts as left out. */
export interface RetriesDraft {
  /** Attempts after the first one. Default: 3. */
  "max"?: number | null;
  /** How the delay grows. Default: `exponential`, or `list` with `delays`. */
  "kind"?: "constant" | "exponential" | "linear" | "list" | null;
  /** The first delay, at most 24 hours. Default: 1 s. */
  "base"?: string | null;
  /** The longest delay, at most 24 hours. Default: 1 hour. */
  "cap"?: string | null;
  /** With `list`: each delay in turn; the last one repeats. Default: none. */
  "delays"?: Array<string> | null;
  /** How much of each delay is random. Default: `full`. */
  "jitter"?: "equal" | "full" | "none" | null;
}

export interface RotateDraft {
  /** A secret that the sender has made. Default: drawn at random. */
  "secret"?: string | null;
  /** How long the secret before is good as well. */
  "former_for"?: string;
}

/** One run with what it was given and what came of it, and the backfill that made it. `submitter` and `address` are who submitted it and from where; null for a run that a job made. `traceback` is of the last attempt; null if no exception ended it. */
export interface RunDetail {
  /** Id of the run. */
  "run_id": string;
  /** Id of its job; of a submission, its own id. */
  "job_id": string;
  /** Name of the job or submission; of a nameless submission, its kind. */
  "job_name": string | null;
  /** Version of the job's definition that it uses, whatever became of the job since; null if that definition is no longer stored. */
  "job_version": number | null;
  /** State, as in docs/reference/states.md. */
  "status": string;
  /** The time that its schedule or caller named. */
  "scheduled_at": string;
  /** When it may first start: `scheduled_at`, moved by jitter, `defer` or `advance`. */
  "due_at": string;
  /** When the last attempt started. */
  "start_time": string | null;
  /** When the run ended. */
  "end_time": string | null;
  /** When it last changed: started, made progress, was retried, was asked to cancel, or ended. */
  "modified_time": string;
  /** When the run was made. */
  "created_at": string;
  /** Attempts so far; 0 before the first. */
  "attempt_number": number;
  /** Attempts that failed. */
  "failures": number;
  /** Id of the worker that took it last. */
  "executor_id": string | null;
  /** Name of that worker. */
  "worker": string | null;
  /** Kind of job. */
  "kind": string;
  /** Queue that it waits or waited in. */
  "queue": string;
  /** Priority; 0 goes first. */
  "priority": number;
  /** What made it: tick, manual, api, event, graph, backfill or replay. */
  "trigger": string;
  /** Message of the last error. */
  "error_message": string | null;
  /** Why it is in its state: the error, or a cause. */
  "reason": Record<string, unknown> | null;
  /** Share done, from 0 to 1, as reported. */
  "progress": number | null;
  /** What was reported with it. */
  "progress_message": string | null;
  /** Labels of the definition that it uses, or its own. */
  "labels": Record<string, string>;
  /** Of a step: its graph run. */
  "graph_run_id": string | null;
  /** Of a step: its place in the graph. */
  "step": number | null;
  /** Of a member of a map: its index. */
  "member": number | null;
  /** Path of its output. */
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

/** A run as it is now. */
export interface RunView {
  /** Id of the run. */
  "run_id": string;
  /** Id of its job; of a submission, its own id. */
  "job_id": string;
  /** Name of the job or submission; of a nameless submission, its kind. */
  "job_name": string | null;
  /** Version of the job's definition that it uses, whatever became of the job since; null if that definition is no longer stored. */
  "job_version": number | null;
  /** State, as in docs/reference/states.md. */
  "status": string;
  /** The time that its schedule or caller named. */
  "scheduled_at": string;
  /** When it may first start: `scheduled_at`, moved by jitter, `defer` or `advance`. */
  "due_at": string;
  /** When the last attempt started. */
  "start_time": string | null;
  /** When the run ended. */
  "end_time": string | null;
  /** When it last changed: started, made progress, was retried, was asked to cancel, or ended. */
  "modified_time": string;
  /** When the run was made. */
  "created_at": string;
  /** Attempts so far; 0 before the first. */
  "attempt_number": number;
  /** Attempts that failed. */
  "failures": number;
  /** Id of the worker that took it last. */
  "executor_id": string | null;
  /** Name of that worker. */
  "worker": string | null;
  /** Kind of job. */
  "kind": string;
  /** Queue that it waits or waited in. */
  "queue": string;
  /** Priority; 0 goes first. */
  "priority": number;
  /** What made it: tick, manual, api, event, graph, backfill or replay. */
  "trigger": string;
  /** Message of the last error. */
  "error_message": string | null;
  /** Why it is in its state: the error, or a cause. */
  "reason": Record<string, unknown> | null;
  /** Share done, from 0 to 1, as reported. */
  "progress": number | null;
  /** What was reported with it. */
  "progress_message": string | null;
  /** Labels of the definition that it uses, or its own. */
  "labels": Record<string, string>;
  /** Of a step: its graph run. */
  "graph_run_id": string | null;
  /** Of a step: its place in the graph. */
  "step": number | null;
  /** Of a member of a map: its index. */
  "member": number | null;
  /** Path of its output. */
  "log_url": string;
}

export interface RunsOfJobQuery {
  "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success">;
  /** Made by this: `tick` for those of the schedule. Default: any. */
  "trigger"?: "api" | "backfill" | "event" | "graph" | "manual" | "replay" | "tick";
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

/** When a job runs. One rule is required; `cron`, `rrule`, `every` and `at` may stand together and mean their union, the other rules stand alone. */
export interface ScheduleDocument {
  /** Cron expressions (docs/reference/cron.md), `@every 90s` or `@at` with an instant. Default: another rule. */
  "cron"?: string | Array<string> | null;
  /** Recurrence rules of RFC 5545. Default: another rule. */
  "rrule"?: string | Array<string> | null;
  /** A fixed rate, start to start; a text is `interval`. Default: another rule. */
  "every"?: string | Array<string | EveryDocument> | EveryDocument | null;
  /** Once, at an instant; or at each of a list. Default: another rule. */
  "at"?: string | Array<string> | null;
  /** Once, that long after the schedule is saved; stored as `at`. Default: another rule. */
  "after"?: string | null;
  /** That long after the last run ended; a text is `delay`. Default: another rule. */
  "fixed_delay"?: string | FixedDelayDocument | null;
  /** Once, right away. Default: another rule. */
  "immediate"?: boolean | null;
  /** When events arrive; a text is `type`. Default: another rule. */
  "event"?: string | TriggerDocument | null;
  /** Only when a person or program asks. Default: another rule. */
  "on_demand"?: boolean | null;
  /** The IANA name of the zone that local times are in. Default: the zone inside a rule, or UTC. */
  "timezone"?: string | null;
  /** Whether `any` or `all` of a cron expression's day of the month and day of the week must match, if it gives both. Default: any. */
  "day_match"?: DayMatch | null;
  /** What happens when clocks change. Default: run_after, first. */
  "dst"?: DstDocument | null;
  /** Names of calendars in whose blackouts nothing starts. Default: none. */
  "calendars"?: string | Array<string> | null;
  /** A tick in a blackout does not run (`skip`), runs after it (`defer`) or before it (`advance`). Default: skip. */
  "on_blackout"?: OnBlackout | null;
  /** Delays each tick by an offset that spreads jobs; a text is `window`. Default: no delay. */
  "jitter"?: string | JitterDocument | null;
  /** When the schedule is valid. Default: always. */
  "window"?: WindowDocument | null;
  /** What happens to ticks that did not run in time. Default: after an outage the latest runs, once. */
  "misfire"?: MisfireDocument | null;
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

/** One step of a graph. `kind` or `graph` is required. */
export interface StepDocument {
  /** The name by which `needs` and expressions refer to it. */
  "name": string;
  /** The kind of the handler. Default: a sub-graph in `graph`. */
  "kind"?: string | null;
  /** Names of the steps that must be final before it starts. Default: none. */
  "needs"?: Array<string> | null;
  /** What the steps in `needs` must have come to: `success`, `failure`, `always`, `none_failed`, or an expression. Default: success. */
  "when"?: string | null;
  /** The payload; `{"$": "steps.a.result"}` stands for a value. Default: null. */
  "payload"?: unknown;
  /** Makes the step many members. Default: one. */
  "map"?: MapDocument | null;
  /** A graph that runs as this step. Default: the step is a run of `kind`. */
  "graph"?: GraphDocument | null;
  /** The graph may succeed although this step failed. Default: false. */
  "may_fail"?: boolean | null;
  /** Its queue. Default: the job's. */
  "queue"?: string | null;
  /** `high`, `normal`, `low`, or 0 to 9. Default: the job's. */
  "priority"?: number | string | null;
  /** A number of retries, or an object as a job has. Default: the job's. */
  "retries"?: unknown;
  /** The time limit of an attempt, or `none`. Default: the job's. */
  "timeout"?: unknown;
  /** The time limit of the step with its retries. Default: none. */
  "deadline"?: unknown;
  /** The time between asking an attempt to stop and ending it by force. Default: the job's. */
  "grace"?: unknown;
  /** As the guarantee of a job. Default: the job's. */
  "guarantee"?: unknown;
  /** What its attempts depend on. Default: the job's. */
  "target"?: unknown;
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

/** A task in the list. `workers` is the number of live workers that serve it. `runs_per_minute` and `failure_rate` are of the runs that ended in the last hour. `scheduled` counts submissions for a later instant. `last_run_at` is the end of the last run among the newest 32,000 of your tenant. `is_estimate`: more runs ended in the last hour than are read. `is_partial`: more runs wait or are scheduled than are counted. */
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
  /** How far the figures go back: the last hour by minutes, 24 hours or 7 days by hours, 30 days by days. Default: `24h`. */
  "window"?: "1h" | "24h" | "30d" | "7d";
}

/** A task and its figures. `description`, `payload_schema` and `default_policy` are what a worker told when it started. `default_policy` holds the options declared on the handler; `null` if there are none. `runs`, `ended`, `failed`, the rates and the percentiles are of the runs that ended from `since` on. Ticks that never became a run do not count. `duration_*` is the time of the last attempt, `wait_*` the time from when a run could start until it started; the percentiles are accurate to a twentieth. `is_estimate`: there were too many runs to count each. `is_partial`: more runs wait or are scheduled than are counted. `jobs` are the newest 50 of this kind. */
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
  /** Part of the kind or of the description, in any case. Default: all. */
  "q"?: string | null;
  /** `true`: tasks that a live worker serves; `false`: those that no live worker serves. Default: both. */
  "served"?: boolean;
  /** How many of them at most. */
  "limit"?: number;
  "cursor"?: string | null;
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
  /** All of them anew: what is absent has its default again. */
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

/** One exception, with its frames in the order of the calls. `relation` is `raised` for the error that ended the attempt, whose message is `error_message`; then `cause` (raised from), `context` (raised while handling) or `member` (of a group; one `depth` deeper). `omitted_frames` were left out of the middle. */
export interface TracebackError {
  "relation": "cause" | "context" | "member" | "raised";
  "type": string;
  "message": string | null;
  "depth": number;
  "frames": Array<TracebackFrame>;
  "omitted_frames": number;
}

/** One call. `is_own`: the user's code, not Rota's, Python's or a library's. */
export interface TracebackFrame {
  "file": string;
  "line": number;
  "function": string;
  "code": string;
  "is_own": boolean;
}

/** The events that a job waits for. */
export interface TriggerDocument {
  /** The type of the events: `order.paid`, `order.*` for every type below `order`, or `*`. Required without `all_of`. */
  "type"?: string | null;
  /** An expression over `event` that must be true. Default: every event of the type. */
  "where"?: string | null;
  /** One run after a time without another event; a text is `quiet`. Default: a run for each event. */
  "debounce"?: string | DebounceDocument | null;
  /** One run for several events. Default: a run for each event. */
  "batch"?: BatchDocument | null;
  /** One run when each of these has arrived. Default: one type is enough. */
  "all_of"?: Array<string | EventMatchDocument> | null;
  /** How long after the first event of `all_of` the others may arrive, from 1 second to 7 days. Required with `all_of`. Default: not used without it. */
  "within"?: string | null;
  /** An expression over `event`; events with different values are gathered apart. Default: all events together. Only beside `all_of`. */
  "key"?: string | null;
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
  /** Held until the run starts, or until it has ended. Default: `live`. */
  "while"?: "live" | "queued";
  /** The key is held at least this long, whatever becomes of the run; at most a year. Default: no such time. */
  "within"?: string;
  /** A later submission gets the first one, is refused with 409, or replaces it. Default: `return`. */
  "on_conflict"?: "reject" | "replace" | "return";
}

/** `local` is what clocks in the schedule's zone show at `at`, with their offset from UTC. */
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

/** A part of every week. */
export interface WeeklyDocument {
  /** A day and a time, such as `fri 18:00`. */
  "start": string;
  /** A day and a time, such as `mon 06:00`. */
  "end": string;
}

export interface WhoAmI {
  "key_id": string;
  "name": string;
  "tenant": string;
  "role": string;
  "user_id": string | null;
  "expires_at": string | null;
  /** That the key expires within 14 days, or never. Default: null. */
  "warning"?: string | null;
}

/** When a schedule is valid, and how many runs it makes. */
export interface WindowDocument {
  /** The first instant of a tick. Default: no start. */
  "start"?: string | null;
  /** The instant before which ticks lie. Default: no end. */
  "end"?: string | null;
  /** The schedule ends after so many runs. Default: no limit. */
  "max_runs"?: number | null;
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
  /** Tenants whose runs it takes, `*` for all. A tenant is shown no other name. */
  "tenants": Array<string>;
  "kinds": Array<string>;
  "started_at": string;
  "beat_at": string;
}

export interface Workers {
  "data": Array<WorkerView>;
}

export interface WorkersQuery {
  /** Whether it is about every tenant; `true` needs a platform key. Default: true for a platform key, false for other keys. */
  "all_tenants"?: boolean;
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
  /** Your queues: whether they are paused, their limits, and what waits and runs there. */
  "GET /v1/queues": { path: {  }; query: { "all_tenants"?: boolean | undefined }; body: undefined; answer: Queues };
  /** Create a queue of your tenant. */
  "POST /v1/queues": { path: {  }; query: {  }; body: QueueDraft; answer: QueueCreated };
  /** Start nothing of this queue any more; what runs goes on. */
  "POST /v1/queues/{queue}/pause": { path: { queue: string }; query: { "all_tenants"?: boolean | undefined }; body: undefined; answer: QueueState };
  /** Start its runs again. */
  "POST /v1/queues/{queue}/resume": { path: { queue: string }; query: { "all_tenants"?: boolean | undefined }; body: undefined; answer: QueueState };
  /** Let so many run at a time and so many start per time; nothing said lifts the limits. */
  "PUT /v1/queues/{queue}/limits": { path: { queue: string }; query: { "all_tenants"?: boolean | undefined }; body: LimitsDraft; answer: undefined };
  /** The workers that take runs of your tenant, with what they serve and how busy they are. */
  "GET /v1/workers": { path: {  }; query: { "all_tenants"?: boolean | undefined; "with_dead"?: boolean | undefined }; body: undefined; answer: Workers };
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
  /** Run a dead, lost or cancelled run again under its id, with what it ran with. */
  "POST /v1/runs/{run_id}/retry": { path: { run_id: string }; query: {  }; body: undefined; answer: RunState };
  /** Make a new run of what a finished run ran with: kind, queue, policy and payload. */
  "POST /v1/runs/{run_id}/replay": { path: { run_id: string }; query: {  }; body: ReplayDraft | undefined; answer: Triggered };
  /** Cancel many runs: a dry run answers how many, and the token to do it. */
  "POST /v1/runs/bulk-cancel": { path: {  }; query: {  }; body: BulkDraft; answer: BulkDone };
  /** Runs that need somebody to look: dead, lost or quarantined. */
  "GET /v1/dead-letters": { path: {  }; query: { "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success"> | undefined; "job_id"?: string | undefined; "kind"?: string | undefined; "queue"?: string | undefined; "worker_id"?: string | undefined; "graph_run_id"?: string | undefined; "created_after"?: string | undefined; "created_before"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined; "fingerprint"?: string | undefined; "ended_after"?: string | undefined; "ended_before"?: string | undefined }; body: undefined; answer: Page_RunView_ };
  /** Group dead letters by task and error, the last seen first. */
  "GET /v1/dead-letters/groups": { path: {  }; query: { "job_id"?: string | undefined; "since"?: string | undefined; "until"?: string | undefined; "kind"?: string | undefined; "limit"?: number | undefined }; body: undefined; answer: DeadGroups };
  /** One group of dead letters, with its newest run in full. */
  "GET /v1/dead-letters/groups/{kind}/{fingerprint}": { path: { kind: string; fingerprint: string }; query: { "job_id"?: string | undefined; "since"?: string | undefined; "until"?: string | undefined }; body: undefined; answer: DeadGroupDetail };
  /** Requeue dead letters as they are. A dry run returns the count and a token. */
  "POST /v1/dead-letters/replay": { path: {  }; query: {  }; body: ReplayManyDraft; answer: BulkDone };
  /** Requeue dead letters with changed payloads. A dry run returns the count and a token. */
  "POST /v1/dead-letters/edit": { path: {  }; query: {  }; body: EditManyDraft; answer: BulkDone };
  /** Drop dead letters; they stay in history. A dry run returns the count and a token. */
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
  /** Number of jobs by status, and when the next one of each status fires. */
  "GET /v1/statistics/jobs": { path: {  }; query: {  }; body: undefined; answer: JobCountsView };
  /** Make a job. */
  "POST /v1/jobs": { path: {  }; query: {  }; body: JobDraft; answer: JobMade };
  /** Make up to 1,000 jobs, all or none. */
  "POST /v1/jobs/bulk": { path: {  }; query: {  }; body: JobDrafts; answer: JobsMade };
  /** Jobs, newest first; one-time submissions are where the time is at which they are due. */
  "GET /v1/jobs": { path: {  }; query: { "type"?: "all" | "definition" | "one_time" | undefined; "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "active" | "cancelled" | "completed" | "deleted" | "enqueued" | "failed" | "finished" | "paused" | "pending" | "quarantined" | "retrying" | "running" | "scheduled" | "success"> | undefined; "user_id"?: string | undefined; "kind"?: string | undefined; "queue"?: string | undefined; "label"?: string | undefined; "q"?: string | undefined; "created_after"?: string | undefined; "created_before"?: string | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_JobView_ };
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
  /** Delete a job and cancel its runs, or cancel a one-time submission. */
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
  "GET /v1/jobs/{job_id}/runs": { path: { job_id: string }; query: { "status"?: Array<"CANCELLED" | "COMPLETED" | "ENQUEUED" | "FAILED" | "PAUSED" | "RETRYING" | "RUNNING" | "SCHEDULED" | "SUCCESS" | "blocked" | "cancelled" | "cancelling" | "coalesced" | "completed" | "dead" | "enqueued" | "expired" | "failed" | "lost" | "missed" | "paused" | "quarantined" | "queued" | "retrying" | "running" | "scheduled" | "skipped" | "succeeded" | "success"> | undefined; "trigger"?: "api" | "backfill" | "event" | "graph" | "manual" | "replay" | "tick" | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_RunView_ };
  /** Changes of a job, latest first: created, updated, paused, resumed, deleted. */
  "GET /v1/jobs/{job_id}/history": { path: { job_id: string }; query: { "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_JobChangeView_ };
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
  /** How it goes: runs by outcome, lag and durations, what waits now, what is late. */
  "GET /v1/statistics": { path: {  }; query: { "since"?: string | undefined }; body: undefined; answer: StatisticsView };
  /** The same over the last hour by minutes, the last day by hours, or the last month by days. */
  "GET /v1/statistics/series": { path: {  }; query: { "span"?: "day" | "hour" | "month" | undefined }; body: undefined; answer: SeriesView };
  /** List tasks by kind, with their load and their last hour. */
  "GET /v1/tasks": { path: {  }; query: { "q"?: string | undefined; "served"?: boolean | undefined; "limit"?: number | undefined; "cursor"?: string | undefined }; body: undefined; answer: Page_TaskItem_ };
  /** Show a task: what it does, who serves it, and how its runs fare. */
  "GET /v1/tasks/{kind}": { path: { kind: string }; query: { "window"?: "1h" | "24h" | "30d" | "7d" | undefined }; body: undefined; answer: TaskView };
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
  "GET /v1/users": "read",
  "GET /v1/users/{user_id}": "read",
  "DELETE /v1/users/{user_id}/keys": "manage"
} as const;
