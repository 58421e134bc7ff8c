"""Reads and writes PostgreSQL. No other package talks to the database.

Each SQL statement is one file under sql/, called only through the typed functions of the module
named after its table. This package turns rows into values and values into rows; core decides about
time, retries and policy. embedded/ runs a private PostgreSQL when no server is configured.
"""
