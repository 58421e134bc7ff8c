"""Attacks on a running installation with two tenants, and what held."""
