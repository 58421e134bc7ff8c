"""Turns requests into jobs and runs, all or nothing.

drafts.py                 checks a requested job and computes its first tick
job_submission.py         writes jobs with their cursors and gates, and submissions
run_triggers.py           creates runs of existing jobs: one now, or many
overlap_decision.py       applies the overlap policy of a job to new runs
job_changes.py            pauses, resumes, edits and deletes jobs
declared_jobs.py          creates or updates jobs that code declares by name
manifests.py              plans and applies the jobs that a manifest file declares
definition_references.py  checks and stores the kinds, queues, graphs and calendars of jobs
rescheduling.py           moves cursors when a calendar changes
zone_rules.py             moves cursors when the rules of a time zone change
requeue.py                retries and replays runs, and requeues dead letters
quotas.py                 enforces the quotas of tenants
"""
