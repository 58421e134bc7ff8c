"""The payloads of Rota's own executors, one struct per kind. Room: contract/payloads.

Each struct says which fields a payload has: type, bounds, default, description. Workers read
payloads by them, and forms and `GET /v1/kinds` show the schema that `render_schema` derives. What
depends on the worker, such as allowed programs or named connections, is checked by the executor.
"""
