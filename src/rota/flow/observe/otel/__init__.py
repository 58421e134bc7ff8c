"""Traces for OpenTelemetry. Room: flow/observe/otel.

writing.py     what a span of Rota says     ids.py        which ids spans get, and which are kept
sending.py     the queue to the collector   collector.py  one request to it

Imported by name, and only if `traces.endpoint` is set: it needs the extra `otel`.
"""
