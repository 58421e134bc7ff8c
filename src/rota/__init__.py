"""Rota: distributed cron, job queue and job graphs in one service, on PostgreSQL.

The public names for people who write jobs will stand here, and nothing else: importing rota must
stay light. ARCHITECTURE.md draws the house.
"""
