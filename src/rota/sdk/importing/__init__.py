"""Reads the schedules of other systems: crontab, Kubernetes, celery-beat, APScheduler.

Room: sdk/importing. Each reader gives the jobs that it could read as a manifest would declare them,
and says by line what it left out and what could not be carried over. Nothing is guessed silently.
"""
