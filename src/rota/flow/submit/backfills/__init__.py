"""Backfills: runs for a long stretch of past ticks, made little by little (S13).

Room: flow/submit. `asking` counts and writes a backfill down, `making` is the duty that goes on
with it, `controlling` pauses, resumes and cancels it, `telling` says how it stands. A few runs that
are made at once are ../backfilling.py.
"""
