"""Runs, rests and stops the services of a process. Knows nothing of jobs.

service.py         Duty: the one loop around every background step; Pulse: wake-ups that coalesce;
                   Stop and Halt; Tier, run_tiers: start all services and drain them in order
signals.py         turns SIGTERM and SIGINT into a Stop
watchdog.py        a thread that ends a process whose event loop is stalled
stall_report.py    describes where the threads and tasks of a process are
clock.py           the machine's clock
database_clock.py  the database's time, estimated from measurements (clock_offset.py)
garbage_collection.py  how often Python looks for cyclic garbage
backoff.py         jittered waiting while the database is down
address_file.py    the file in the data folder that holds the API's address
tracebacks.py      the traceback of an exception as data
events.py          runtime events, as values

Settings do not reach this package: the package processes turns them into plain values.
"""
