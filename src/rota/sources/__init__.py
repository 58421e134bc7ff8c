"""Plug-ins that bring events: one folder per kind of source. Room: sources.

Each keeps the contract of core/source.py and knows neither the store nor the flow nor the others.
What all of them read their options with is options.py. A kind whose library is an extra imports it
when it is made, and says which extra is missing.
"""
