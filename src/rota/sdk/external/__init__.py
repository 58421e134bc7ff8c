"""Runs a command and records it as a run (`rota exec`).

command.py     the child process: forwards its output and signals
output.py      buffers output that is not yet sent
recording.py   reports the run to the server; the command runs even if the server is unreachable
"""
