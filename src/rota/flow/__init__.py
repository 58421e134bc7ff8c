"""Flow: the steps of a run, from submit to observe. Floor 3.

Each step is a package that knows core, store and runtime, and no other step; they hand over rows
through the store or values through a channel that node puts between them.
"""
