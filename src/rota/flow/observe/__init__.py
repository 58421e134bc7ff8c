"""Observe: what happened becomes log lines, metrics and a feed, off the hot path. Room: flow."""
