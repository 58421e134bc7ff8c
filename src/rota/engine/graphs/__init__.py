"""Advances, pauses and shows graph runs, and the maps in them."""
