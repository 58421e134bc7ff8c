"""Turns ticks into runs, each exactly once and at its time.

shard_leaser.py     holds shards by lease and shares them with the other schedulers
tick_reader.py      reads the ticks of the next seconds into the agenda
agenda.py           the ticks and submissions that are due soon, in memory, by time
schedule_cache.py   the schedules and calendars, parsed once, and the tick that follows a tick
tick_firer.py       fires ticks and moves submissions at their instant, in batches
misfire_handler.py  handles ticks that cannot be fired directly: late ones, fixed delays
"""
