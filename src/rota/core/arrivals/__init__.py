"""Events from outside, and what they come to. Room: core/arrivals.

Users say event. Inside the house that word is taken: core/events.py holds what our own processes
say in their log. So what arrives from outside is kept here, under arrivals:

    event        one event as it is handed in, what is checked about it, and how a handler sees it
    matching     whether a job wants an event, and why not
    gathering    events that become one run together: debounce, batches, waiting for several
    payloads     what the handler is given
    replaying    which events are to be matched again

Events are read in contract/event.py and contract/cloudevents.py. What a job waits for is
core/time/trigger.py. Pure: taking events in is flow/events.
"""
