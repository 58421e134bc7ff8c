// The fields of a job that a form shows. Rendered from src/rota/contract/job.py by `make generate`;
// do not edit.

export interface JobField {
  /** Its name in the API. */
  readonly name: string;
  /** `retries` is the number of attempts after the first one. */
  readonly kind: "choice" | "document" | "duration" | "number" | "retries" | "text";
  /** Whether null is allowed; the form shows it as an empty text. */
  readonly isNullable: boolean;
  /** The default value; a duration is ISO 8601. */
  readonly default: string;
  readonly choices: readonly string[];
  readonly maxLength: number | null;
  readonly description: string;
}

export const JOB_FIELDS = [
  {"name": "retries", "kind": "retries", "isNullable": false, "default": "3", "choices": [], "maxLength": null, "description": "How a failed run is retried: the number of retries after the first attempt, or an object with delays. Default: 3."},
  {"name": "timeout", "kind": "duration", "isNullable": true, "default": "PT15M", "choices": [], "maxLength": 64, "description": "Time limit of one attempt, at most 24 hours. `none`, or null in JSON, means no limit. Default: 15 minutes."},
  {"name": "deadline", "kind": "duration", "isNullable": true, "default": "", "choices": [], "maxLength": 64, "description": "Time limit of the whole run with all its retries, counted from its due time. `none`, or null in JSON, means no limit. Default: no limit."},
  {"name": "guarantee", "kind": "choice", "isNullable": false, "default": "at_least_once", "choices": ["at_least_once", "at_most_once", "exactly_once"], "maxLength": null, "description": "Delivery guarantee if a worker is lost. `exactly_once` needs a handler that completes its run in `ctx.transaction()`; other kinds reject it. Default: `at_least_once`."},
  {"name": "target", "kind": "text", "isNullable": true, "default": "", "choices": [], "maxLength": 253, "description": "Service that the attempts depend on. While it is down, runs wait instead of using up their retries. `none`, or null in JSON, restores the default. Default: the host (http) or connection (sql), if the kind has one."},
  {"name": "queue", "kind": "text", "isNullable": false, "default": "default", "choices": [], "maxLength": 200, "description": "Queue that its runs wait in. Default: `default`."},
  {"name": "priority", "kind": "number", "isNullable": false, "default": "5", "choices": [], "maxLength": null, "description": "Priority from 0 (first) to 9 (last), or high, medium, normal, low. Default: 5."},
  {"name": "overlap", "kind": "choice", "isNullable": false, "default": "skip", "choices": ["skip", "queue_one", "queue_all", "cancel_running", "terminate_running", "allow"], "maxLength": null, "description": "What to do when the job is due and its previous run is still active. Default: `skip`."},
  {"name": "when_queue_paused", "kind": "choice", "isNullable": false, "default": "skip", "choices": ["skip", "accumulate"], "maxLength": null, "description": "What to do when the job is due while its queue is paused. Default: `skip`."},
  {"name": "user_id", "kind": "text", "isNullable": true, "default": "", "choices": [], "maxLength": 200, "description": "Owner of the job, for your own records. Default: null."},
  {"name": "description", "kind": "text", "isNullable": true, "default": "", "choices": [], "maxLength": 1000, "description": "What the job does, at most 1,000 characters. Default: null."},
  {"name": "expect", "kind": "document", "isNullable": true, "default": "", "choices": [], "maxLength": null, "description": "What must hold for its runs; a violation opens an incident (docs/howto/alerts.md). Default: null."},
  {"name": "alert", "kind": "document", "isNullable": true, "default": "", "choices": [], "maxLength": null, "description": "How incidents of the job are reported. Default: as a warning, to the default channels."},
] as const satisfies readonly JobField[];
