"""Creates runs for a long range of past ticks, batch by batch (S13).

requests.py   counts the ticks of a backfill, stores it and computes its progress
advancer.py   creates its runs, as a background duty
control.py    pauses, resumes and cancels it
"""
