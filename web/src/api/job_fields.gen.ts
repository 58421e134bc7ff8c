// The fields of a job that a form shows. Rendered from src/rota/contract/job.py by `make generate`;
// do not edit.

export interface JobField {
  /** Its name in the API. */
  readonly name: string;
  /** `retries` is a number of attempts after the first one. */
  readonly kind: "choice" | "duration" | "number" | "retries" | "text";
  /** Whether null may be sent, for which the form has an empty text. */
  readonly isNullable: boolean;
  /** Of a job that does not say it; a duration is ISO 8601. */
  readonly default: string;
  readonly choices: readonly string[];
  readonly maxLength: number | null;
  readonly description: string;
}

export const JOB_FIELDS = [
  {"name": "retries", "kind": "retries", "isNullable": false, "default": "3", "choices": [], "maxLength": null, "description": "A number of attempts after the first one, or how often and how soon a failed run is tried again. Default: 3."},
  {"name": "timeout", "kind": "duration", "isNullable": true, "default": "PT15M", "choices": [], "maxLength": 64, "description": "The longest an attempt may take, at most 24 hours. `none`, or null in JSON, is no limit. Default: 15 minutes."},
  {"name": "deadline", "kind": "duration", "isNullable": true, "default": "", "choices": [], "maxLength": 64, "description": "How long after its due time a run may go on. `none`, or null in JSON, is no limit. Default: no limit."},
  {"name": "guarantee", "kind": "choice", "isNullable": false, "default": "at_least_once", "choices": ["at_least_once", "at_most_once", "exactly_once"], "maxLength": null, "description": "What happens if a worker is lost. `exactly_once` needs a handler that completes its run in `ctx.transaction()`; other kinds refuse it. Default: `at_least_once`."},
  {"name": "target", "kind": "text", "isNullable": true, "default": "", "choices": [], "maxLength": 253, "description": "What its attempts depend on. While it does not answer, runs wait instead of using up their retries. `none`, or null in JSON, restores the default. Default: the host or the connection of kinds that have one."},
  {"name": "queue", "kind": "text", "isNullable": false, "default": "default", "choices": [], "maxLength": 200, "description": "The workers that serve it. Default: `default`."},
  {"name": "priority", "kind": "number", "isNullable": false, "default": "5", "choices": [], "maxLength": null, "description": "From 0, which goes first, to 9, or high, medium, normal, low. Default: 5."},
  {"name": "overlap", "kind": "choice", "isNullable": false, "default": "skip", "choices": ["skip", "queue_one", "queue_all", "cancel_running", "terminate_running", "allow"], "maxLength": null, "description": "What happens when it is due while a run of it is alive. Default: `skip`."},
  {"name": "when_queue_paused", "kind": "choice", "isNullable": false, "default": "skip", "choices": ["skip", "accumulate"], "maxLength": null, "description": "What happens when it is due while its queue is paused. Default: `skip`."},
  {"name": "user_id", "kind": "text", "isNullable": true, "default": "", "choices": [], "maxLength": 200, "description": "Whose job it is, for your own bookkeeping. Default: null."},
  {"name": "description", "kind": "text", "isNullable": true, "default": "", "choices": [], "maxLength": 1000, "description": "What the job is for, in your words; at most 1,000 characters. Default: null."},
] as const satisfies readonly JobField[];
