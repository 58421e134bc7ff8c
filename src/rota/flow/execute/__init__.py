"""Execute: carries attempts out and says how they ended. One step of the flow.

Attempts run on a stage, an event loop in a thread of its own, so that a handler that blocks cannot
stop the worker from claiming, recording and vouching for the others. Claiming is flow/dispatch,
recording flow/record; the node connects them.
"""
