"""What the dashboard needs of the API: its files, and people instead of programs. Room:
api/dashboard.

A program says who it is by a key in a header; a browser by a cookie, which it would send along
with a request that another site made up. So the two never mix: a cookie counts below `/ui` only,
where the same operations are served again, and a key counts nowhere there.
"""
