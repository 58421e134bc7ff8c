"""Checks an installation for problems and suggests fixes.

findings.py   the result of a check         here.py      settings, files and disk of this machine
database.py   the server and its schema     service.py   the API, the processes, the queues
collector.py  the trace collector           roles.py     the database logins

The checks are read-only: they start, create and migrate nothing.
"""
