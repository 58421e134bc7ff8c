"""Raises the limit of open files."""

import resource


def ensure_descriptors(wanted: int) -> int:
    """Raise the soft limit of open files to `wanted` where the hard limit allows it; return the
    limit now in force.

    Does not raise it further, because child processes inherit the limit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted if soft == resource.RLIM_INFINITY else soft
    raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if raised > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    return max(soft, raised)
