"""Builds graphs in Python: functions that call jobs, and `extract >> [a, b] >> load`.

While a graph is built, calling a job adds a step instead of running the function. The step's future
result is a `Value` that can be passed to other steps, indexed and compared.

values.py    `Value`: a value that is known only when the graph runs
steps.py     `Step`: one step; `Steps`: several steps that others wait for
current.py   the graph that is being built in this context
building.py  collects the steps and writes the definition
graph.py     `Graph`: the definition; it is submitted and scheduled like a job

core/graphs validates the definition; nothing here executes steps.
"""
