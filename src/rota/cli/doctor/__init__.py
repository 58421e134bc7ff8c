"""What may be wrong with an installation, and what to do about it. Room: cli/doctor.

findings.py   what a check finds            here.py      settings, files and disk of this machine
database.py   the server and its schema     service.py   the API, the processes and what waits
collector.py  where traces go               roles.py     which logins are used

Looks only: nothing is started, made or migrated.
"""
