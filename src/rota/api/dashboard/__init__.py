"""Serves the dashboard: its files, and the logins of its users.

A program authenticates with a key in a header, a browser with a cookie, which it would also send
with a request that another site forged. So the two never mix: a cookie is valid below `/ui` only,
where the same operations are served again, and a key is not valid there.
"""
