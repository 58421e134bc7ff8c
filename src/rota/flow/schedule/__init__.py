"""Schedule: ticks become runs, each once and at its time. Room: flow.

leasing.py        holds shards by lease, and shares them with the other schedulers
tenure.py         what this scheduler holds, and until when it may act on it
reading.py        reads the ticks of the next seconds into the agenda
agenda.py         what is due when, in memory
submissions.py    when the next submission of each shard is due, in memory
rulebook.py       the schedules, read once, and the tick that follows a tick
minding_calendars.py  keeps the calendars of the rulebook as they are
firing.py         decides the ticks and moves the submissions at their instant, in batches
looking_closer.py ticks that cannot simply be fired: late ones, fixed delays
lateness.py       where the cursors of those go
quarantining.py   sets a job aside that cannot be scheduled
"""
