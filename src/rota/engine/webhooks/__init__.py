"""Delivers events to webhook subscriptions."""
