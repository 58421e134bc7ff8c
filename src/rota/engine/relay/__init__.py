"""Tails runs, attempts, the audit log and incidents, and hands their events to consumers."""
