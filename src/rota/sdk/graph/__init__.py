"""Graphs written in Python: functions that call jobs, and `extract >> [a, b] >> load`.

Room: sdk/graph. While a graph is built, calling a job gives a step instead of running it, and what
a step will return is a `Value` that can be passed on, looked into and compared.

values.py    `Value`: what is known only when the graph runs
steps.py     `Step`: one step, and `Steps`, several that others wait for
current.py   which graph is being built here and now
building.py  collects its steps and writes them down
graph.py     `Graph`: the definition, submitted and scheduled like a job

What is right about the result is core/graphs; nothing here knows how steps are carried out.
"""
