"""Measures Rota as its users run it, with real scheduler and worker processes.

It starts its own PostgreSQL with full durability. The parts run one after another, each with a
fresh database and its own processes. Times come from the records of the database and the handlers,
not from waiting in this process.

This package is not part of the wheel. `rota bench` imports it in a source checkout, where it lies
beside `rota`; no other module of `rota` does.
"""
