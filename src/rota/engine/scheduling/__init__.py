"""Turns ticks into runs, each exactly once and at its time.

shard_leaser.py       holds shards by lease and shares them with the other schedulers
held_shards.py        the shards that this scheduler holds, and how long it may act on them
tick_reader.py        reads the ticks of the next seconds into the agenda
agenda.py             the ticks due soon, in memory, by time
due_submissions.py    when the next submission of each shard is due, in memory
schedule_cache.py     the schedules, parsed once, and the tick that follows a tick
calendar_refresher.py keeps the cached calendars up to date
tick_firer.py         fires ticks and moves submissions at their instant, in batches
misfire_handler.py    handles ticks that cannot be fired directly: late ones, fixed delays
misfires.py           computes where the cursors of those ticks move
quarantine.py         quarantines jobs that cannot be scheduled
"""
