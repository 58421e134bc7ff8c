"""Turns events into log lines, metrics, traces and a live feed, off the hot path."""
