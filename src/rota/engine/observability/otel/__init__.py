"""Writes traces for OpenTelemetry.

span_writer.py   the content of Rota's spans     span_ids.py   ids and sampling of spans
span_sender.py   the queue to the collector      collector.py  one request to the collector

Imported by name, and only if `traces.endpoint` is set: it needs the extra `otel`.
"""
