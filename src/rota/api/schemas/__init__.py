"""Declares the request and response schemas of the operations."""
