"""Reads and writes job manifests (rota.yaml): jobs as code.

This package turns a file into a request and reports errors by line and column. The server plans
and applies the changes (engine/submission/manifests.py).
"""
