"""Takes a run through its life, from submission to observability.

Each step is a package that imports core, contract, store and runtime, and no other step. The steps
exchange rows through the store, or values through a channel that the process wires between them.
"""
