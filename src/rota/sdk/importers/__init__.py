"""Imports schedules of other systems: crontab, Kubernetes, celery-beat, APScheduler.

Each importer returns jobs as a manifest declares them, and reports by line which entries it skipped
and which settings it could not convert. It never guesses silently.
"""
