"""Plug-ins that read events from other systems: one package per kind of source.

Each implements the contract of core/source.py and imports neither the store nor the engine nor
other sources. All of them read their options with options.py. A kind whose library is an optional
extra imports it when a source is created, and names the extra if it is missing.
"""
