"""Events from outside become runs.

Room: flow/events. In the order of their way:

taking      events are taken in: kept once, matched, and turned into runs, in one transaction
deciding    what events come to: runs at once, or piles that become runs later
casting     what all runs of one job have in common
ripening    the duty that makes runs of piles whose time has come
listening   the duty that reads one source, and acknowledges what was committed
replaying   events that are kept are matched again
"""
