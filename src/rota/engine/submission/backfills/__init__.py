"""Creates runs for a long range of past ticks, batch by batch (S13).

requests.py   counts the ticks of a backfill and stores it
advancer.py   creates its runs, as a background duty
control.py    pauses, resumes and cancels it
progress.py   computes its progress

../immediate_backfill.py creates a few runs at once.
"""
