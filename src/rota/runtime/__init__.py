"""How things run, rest and stop. Room: runtime, floor 2. It knows nothing of jobs.

service.py    Duty: the one loop around every background step; Service, Ground
tiers.py      Tier, run_node: start everything, drain it in order, say how it ended
pulse.py      Pulse: wake-ups that coalesce
stop.py       Stop and Halt: stopping is an event, cancelling the last resort
signals.py    SIGTERM and SIGINT become a Stop
watchdog.py   a thread that ends a process whose loop stands still
standstill.py says where the threads and tasks of a process stand
channel.py    bounded hand-over between two steps
clock.py      SystemClock, and MovedClock for tests
database_clock.py  the time by the database's clock, from measurements of it (offset.py)
collector.py  how often Python looks for cyclic garbage
backoff.py    jittered waiting while the database is away
address_file.py  where the API listens, as a file in the data folder
tracebacks.py  the traceback of an exception as data
events.py     what can happen here, as values

Settings do not reach this room: the room node turns them into plain values.
"""
