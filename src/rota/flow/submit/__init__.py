"""Submit: what somebody hands in becomes jobs and runs, all or nothing. Room: flow.

drafting.py     checks a job that is handed in, and computes its first tick
submitting.py   writes jobs with their cursors and gates, and submissions
triggering.py   runs of existing jobs: one now, or many
placing.py      places runs beside those that are alive, as the overlap policy says
changing.py     pause, resume, edit, delete
declaring.py    jobs that code declares, by name: made, changed, or found as they are
going_by.py     schedules that go by calendars
rescheduling.py moves cursors when a calendar is changed
allowing.py     whether a tenant may have what is asked for
"""
