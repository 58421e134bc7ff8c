"""Defines the data that crosses a boundary: wire, storage, files.

Each field of a job, a schedule, a graph or a payload is defined here once: name, type, bounds,
default and description. API bodies, OpenAPI, the client, YAML keys, CLI options, forms and stored
documents are read and described by these structs. `documents.py` reads them: `read_input`
strictly, `read_stored` leniently.
"""
