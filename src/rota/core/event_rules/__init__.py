"""Defines the rules for incoming events: validation, matching, grouping and replay.

    event        one event: its validation, and its form for handlers
    matching     whether a job matches an event, and why not
    grouping     grouping of several events into one run: debounce, batch, all_of
    payloads     the payload of a run that events start
    replay       selection of events to match again
    hooks        verification of signed requests that become events

contract/event.py and contract/cloudevents.py read events; core/time/trigger.py defines triggers.
core/log_events.py is unrelated: it defines the log events of Rota's own processes. This package is
pure; the engine ingests events.
"""
