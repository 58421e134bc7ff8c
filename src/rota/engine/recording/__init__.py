"""Stores outcomes, output and progress of attempts."""
