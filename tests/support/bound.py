"""Becomes a command that is killed when the process that started it ends: `bound.py COMMAND …`.

The kernel does it (PR_SET_PDEATHSIG), so a test that is itself killed leaves no process behind. The
number and the exit code are those of the command. The thread that starts it must live as long as
the test: the main one does.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.execvp(sys.argv[1], sys.argv[1:])
