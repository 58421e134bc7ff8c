"""Turns requests into jobs and runs, all or nothing.

drafts.py               checks a requested job and computes its first tick
job_submission.py       writes jobs with their cursors and gates, and submissions
run_triggers.py         creates runs of existing jobs: one now, or many
overlap_decision.py     applies the overlap policy of a job to new runs
job_changes.py          pauses, resumes, edits and deletes jobs
declared_jobs.py        creates or updates jobs that code declares by name
calendar_references.py  locks and shares the calendars of schedules
rescheduling.py         moves cursors when a calendar changes
quotas.py               enforces the quotas of tenants
"""
