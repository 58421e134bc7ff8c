"""Supervises one program, in a process of its own between the worker and the program.

Nothing that the program started may outlive the attempt, even if the worker dies. The supervisor
makes itself the parent of orphans (PR_SET_CHILD_SUBREAPER), so it still finds a child that forks
twice or leaves the group or session. It kills all descendants when the program has exited, when the
worker asks for it, and when the worker is gone, which closes the control socket.

It is a separate process and not a function between fork and exec: the worker has threads, and code
in a forked copy of it could wait forever for a lock that no thread holds. It imports only a few
modules of the standard library, because it starts for every attempt.

    worker → supervisor   the order, then optionally one line: the grace period in milliseconds
    supervisor → worker   `started PID` or `cannot REASON`, then `exited CODE LEFT` or `killed
                          SIGNAL LEFT`, where LEFT counts processes that survived SIGKILL

On systems other than Linux it kills only the process group, and only if it is not killed itself.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time

LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

# Seconds to wait: a process blocked in the kernel, e.g. on a dead network disk, survives SIGKILL.
KILL_TIMEOUT_S = 5.0
REAP_INTERVAL_S = 0.05
LENGTH_DIGITS = 8
# The name of a process in `/proc/PID/stat` may itself hold spaces and brackets.
STAT_NAME_END = b") "


class ProgramOrder:
    """The program to start and its user; uid and gid of -1 keep the worker's own."""

    __slots__ = ("argv", "cwd", "env", "gid", "home", "limits", "uid")

    def __init__(  # noqa: PLR0913, PLR0917 - importing dataclasses takes longer than the rest of the start
        self,
        argv: list[str],
        env: dict[str, str],
        home: str,
        cwd: str,
        limits: dict[str, int],
        uid: int = -1,
        gid: int = -1,
    ) -> None:
        self.argv = argv
        self.env = env
        self.home = home
        self.cwd = cwd
        self.limits = limits
        self.uid = uid
        self.gid = gid

    def encode(self) -> bytes:
        """Encode as a length and NUL-separated texts; importing json would double the start."""
        limits = [f"{name}={value}" for name, value in self.limits.items()]
        env = [f"{name}={value}" for name, value in self.env.items()]
        counts = [str(len(part)) for part in (limits, self.argv, env)]
        head = [self.home, self.cwd, str(self.uid), str(self.gid), *counts]
        body = "\0".join([*head, *limits, *self.argv, *env]).encode()
        return b"%0*d" % (LENGTH_DIGITS, len(body)) + body

    @classmethod
    def decode(cls, body: bytes) -> "ProgramOrder":
        home, cwd, uid, gid, limits, argc, _, *texts = body.decode().split("\0")
        start = int(limits)
        end = start + int(argc)
        return cls(
            argv=texts[start:end],
            env=dict(pair.split("=", 1) for pair in texts[end:]),
            home=home,
            cwd=cwd,
            limits={n: int(v) for n, v in (pair.split("=") for pair in texts[:start])},
            uid=int(uid),
            gid=int(gid),
        )


def main() -> None:
    control, worker = int(sys.argv[1]), int(sys.argv[2])
    os.set_inheritable(control, False)
    body = read_exactly(control, int(read_exactly(control, LENGTH_DIGITS) or b"0"))
    if not body:
        return
    order = ProgramOrder.decode(body)
    wake = open_wake_pipe()
    adopt_orphans(worker)
    program, problem = start_program(order)
    if problem:
        remove_folder(order.home)
        send_report(control, f"cannot {problem}")
        return
    send_report(control, f"started {program}")
    status = wait_for_program(control, wake, program)
    left, killed = kill_all(wake, program)
    status = killed if status is None else status
    remove_folder(order.home)
    word, number = ("killed", -status) if status < 0 else ("exited", status)
    send_report(control, f"{word} {number} {left}")


def prctl(option: int, value: int) -> None:
    if LINUX and ctypes.CDLL(None).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(0, f"prctl {option} failed")


def read_exactly(control: int, size: int) -> bytes:
    """Read `size` bytes; return nothing if the worker is gone before it has sent them."""
    data = b""
    while len(data) < size:
        piece = os.read(control, size - len(data))
        if not piece:
            return b""
        data += piece
    return data


def send_report(control: int, line: str) -> None:
    try:
        os.write(control, line.encode() + b"\n")
    except OSError:
        return  # the worker is gone


def open_wake_pipe() -> int:
    """Turn signals into bytes of a pipe, so that `poll` can wait for them; return its read end."""
    # The thread that started this process may have blocked some; the program would inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    wake, ring = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(ring, False)
    signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    return wake


def adopt_orphans(worker: int) -> None:
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    # A second way to notice that the worker is gone, in case a fork of it holds the socket open. To
    # the kernel the parent is a thread: the attempts' event loop, which outlives the attempts.
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != worker:
        os._exit(0)


def start_program(order: ProgramOrder) -> tuple[int, str]:
    """Start the program; return its PID, and the error if it could not start."""
    if order.uid != -1:
        os.chown(order.home, order.uid, order.gid)
    reader, writer = os.pipe()
    supervisor = os.getpid()
    program = os.fork()
    if program == 0:
        try:
            exec_program(order, supervisor)
        except BaseException as error:  # noqa: BLE001 - the worker reports every error
            os.write(writer, repr(error).encode()[:1000])
        finally:
            os._exit(127)
    os.close(writer)
    problem = os.read(reader, 1000).decode(errors="replace")
    os.close(reader)
    return program, problem


def exec_program(order: ProgramOrder, supervisor: int) -> None:
    """Turn this process into the program, in a session of its own."""
    os.setsid()
    os.umask(0o077)
    if order.uid != -1:
        os.setgroups([])
        os.setgid(order.gid)
        os.setuid(order.uid)
    os.chdir(order.cwd)
    # Set after the change of user, which clears it.
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if os.getppid() != supervisor:
        os._exit(127)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these; programs need them
        signal.signal(number, signal.SIG_DFL)
    for name, value in order.limits.items():
        set_limit(getattr(resource, name), value)
    os.execve(order.argv[0], order.argv, order.env)  # noqa: S606 - no shell on purpose


def set_limit(limit_id: int, value: int) -> None:
    _, hard = resource.getrlimit(limit_id)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit_id, (value, value))


def wait_for_program(control: int, wake: int, program: int) -> int | None:
    """Wait until the program exits or everything has to be killed; return its status, if known.

    If the worker asks for a stop, all processes get SIGTERM and the worker's grace period.
    """
    events = select.poll()
    events.register(control, select.POLLIN)
    events.register(wake, select.POLLIN)
    status: int | None = None
    deadline: float | None = None
    while True:
        exit_status, has_children = reap_children(program)
        status = exit_status if status is None else status
        if (status is not None and deadline is None) or not has_children:
            return status
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            return status
        ready = {fd for fd, _ in events.poll(None if left is None else left * 1000)}
        if wake in ready and drain_signals(wake):
            return status
        if control in ready:
            line = read_some(control)
            if not line or deadline is not None:
                return status
            deadline = time.monotonic() + int(line) / 1000
            # A stopped process handles SIGTERM only after SIGCONT.
            signal_all(program, signal.SIGTERM)
            signal_all(program, signal.SIGCONT)


def read_some(control: int) -> bytes:
    try:
        return os.read(control, 64)
    except ConnectionError:
        return b""


def drain_signals(wake: int) -> bool:
    """Drain the pipe; return whether any signal other than SIGCHLD arrived."""
    try:
        return any(number != signal.SIGCHLD for number in os.read(wake, 4096))
    except BlockingIOError:
        return False


def reap_children(program: int) -> tuple[int | None, bool]:
    """Reap exited children; return the program's status, if it exited, and whether any are left."""
    status: int | None = None
    while True:
        try:
            number, result = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status, False
        if number == 0:
            return status, True
        if number == program:
            status = os.waitstatus_to_exitcode(result)


def kill_all(wake: int, program: int) -> tuple[int, int]:
    """Kill all descendants and wait for them; return how many survived, and the status."""
    status = -signal.SIGKILL.value
    deadline = time.monotonic() + KILL_TIMEOUT_S
    while True:
        exit_status, has_children = reap_children(program)
        status = status if exit_status is None else exit_status
        if not has_children and not is_group_alive(program):
            return 0, status
        if time.monotonic() > deadline:
            return max(1, len(list_descendants())), status
        signal_all(program, signal.SIGKILL)
        select.select([wake], [], [], REAP_INTERVAL_S)
        drain_signals(wake)


def is_group_alive(program: int) -> bool:
    """Return whether the program's group still has members, on systems without subreapers."""
    if LINUX:
        return False
    try:
        os.killpg(program, 0)
    except OSError:
        return False
    return True


def signal_all(program: int, number: int) -> None:
    """Signal whole groups, which also reaches processes that are being forked right now."""
    groups = set(list_descendants().values()) if LINUX else {program}
    for group in groups - {os.getpgrp()}:  # its own group is in another session
        try:
            os.killpg(group, number)
        except OSError:
            continue  # the group is gone


def list_descendants() -> dict[int, int]:
    """Return all processes below this one, each with its group."""
    parents: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc") if LINUX else ():  # noqa: PTH208 - pathlib takes 10 ms
        try:
            with open(f"/proc/{int(name)}/stat", "rb") as file:  # noqa: PTH123 - as above
                _, parent, group = file.read().rpartition(STAT_NAME_END)[2].split()[:3]
        except (OSError, ValueError):
            continue
        parents[int(name)] = int(parent), int(group)
    groups: dict[int, int] = {}
    level = {os.getpid()}
    while level:
        level = {pid for pid, (parent, _) in parents.items() if parent in level} - groups.keys()
        groups.update((pid, parents[pid][1]) for pid in level)
    return groups


def remove_folder(folder: str) -> None:
    try:
        os.rmdir(folder)  # noqa: PTH106 - as above
    except OSError:
        import shutil  # noqa: PLC0415 - takes 10 ms; needed only if files are left

        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
