"""When things run: schedules, their ticks, and what becomes of the ticks that were missed.

Room: core/time. Pure: no clock is read here, `now` and `after` are arguments, instants are aware
and in UTC. The way through the room, from the bottom up:

    tick, durations, moments   one nominal time; "15m"; "2030-01-31T09:00:00Z"
    zones, walls               what a local time means in a zone
    cron, rrule, interval      the rules that make ticks
    policies, schedule         the rules together, with zone, bounds and policies
    calendars, jitter          when nothing may start; a stable offset against the herd
    planning                   the next tick, and when it really starts
    backlog, misfire           the ticks that were not run in time, and what to do with them
    sentence, preview          in plain English; the times to come

Schedules and calendars as documents are rota/contract. Imports nothing here, so that
`rota.core.time.tick` costs what it says. Fires nothing, and knows no job, run or table.
"""
