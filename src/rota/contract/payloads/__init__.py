"""Defines the payloads of Rota's built-in executors, one struct per kind.

Each struct defines the fields of a payload: type, bounds, default, description. Workers read
payloads by these structs; forms and `GET /v1/kinds` show the schema that `render_schema` derives.
The executor checks what depends on the worker, such as allowed programs and named connections.
"""
