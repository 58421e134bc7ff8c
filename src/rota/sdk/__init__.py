"""Sdk: what people who write jobs type. Floor 4."""
