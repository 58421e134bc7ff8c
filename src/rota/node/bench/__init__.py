"""Measures Rota as its users run it: real scheduler and worker processes. Room: node/bench.

A server of its own with full durability, a fresh database for each part, the parts one after the
other, each with its own processes. Times are read from what the database and the handlers wrote
down, not from this process's waiting. Nothing here is used by the other nodes.
"""
