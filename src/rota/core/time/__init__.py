"""Computes when jobs run: schedules, their ticks, and the handling of missed ticks.

Pure: nothing here reads a clock. `now` and `after` are arguments; instants are aware and in UTC.
The modules, from the bottom up:

    tick, durations, moments   one nominal time; "15m"; "2030-01-31T09:00:00Z"
    zones, wall_clock          conversion of wall-clock times to instants in a zone
    cron, rrule, interval      rules that produce ticks
    policies, schedule         rules combined with a zone, bounds and policies
    calendars, jitter          blackouts; a stable offset that spreads load
    planning                   the next tick and its actual start time
    backlog, misfire           ticks that did not run in time, and the catch-up decision
    description, preview       descriptions in English; upcoming times

rota/contract reads and writes schedules and calendars as documents. This file imports nothing, so
importing `rota.core.time.tick` loads that module only. The package fires nothing and knows no jobs,
runs or tables.
"""
