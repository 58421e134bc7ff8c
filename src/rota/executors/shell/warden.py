"""The process that answers for one program. Room: executors/shell; run as a program of its own.

It stands between the worker and the program for one reason: nothing that the program started may
outlive the attempt, whatever becomes of the worker. It makes itself the parent of orphans
(PR_SET_CHILD_SUBREAPER), so a child that forks twice, leaves the group or the session is still
found among its descendants. It ends all of them when the program has ended, when it is asked to,
and when the worker is gone: then the control socket closes.

A process of its own and not a function between fork and exec: the worker has threads, and code
that runs in a copy of a process with threads can wait for ever for a lock that nobody holds.
Standard library only, and few modules of it: it is started for every attempt.

    worker → warden   the order, then perhaps one line: how long the program may take to stop, in ms
    warden → worker   `started PID` or `cannot REASON`, then `exited CODE LEFT` or `killed SIGNAL
                      LEFT`, where LEFT counts processes that not even SIGKILL ended

Elsewhere than on Linux only the process group is ended, and not when the warden itself is killed.
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

# A process that sleeps in the kernel, for example on a dead network disk, outlasts SIGKILL.
KILLING = 5.0
LOOK_AGAIN = 0.05
LENGTH_DIGITS = 8
# The name of a process in `/proc/PID/stat` may itself hold spaces and brackets.
AFTER_NAME = b") "


class Order:
    """What to start, and as whom; a user of -1 is the worker's own."""

    __slots__ = ("argv", "cwd", "env", "gid", "home", "limits", "uid")

    def __init__(  # noqa: PLR0913, PLR0917 - importing dataclasses takes longer than all else here
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
        """Length, then texts that end with NUL; json would double the time to start."""
        limits = [f"{name}={value}" for name, value in self.limits.items()]
        env = [f"{name}={value}" for name, value in self.env.items()]
        counts = [str(len(part)) for part in (limits, self.argv, env)]
        head = [self.home, self.cwd, str(self.uid), str(self.gid), *counts]
        body = "\0".join([*head, *limits, *self.argv, *env]).encode()
        return b"%0*d" % (LENGTH_DIGITS, len(body)) + body

    @classmethod
    def decode(cls, body: bytes) -> "Order":
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
    order = Order.decode(body)
    wake = heed_signals()
    adopt_orphans(worker)
    program, problem = start(order)
    if problem:
        remove(order.home)
        say(control, f"cannot {problem}")
        return
    say(control, f"started {program}")
    status = tend(control, wake, program)
    left, killed = kill_all(wake, program)
    status = killed if status is None else status
    remove(order.home)
    word, number = ("killed", -status) if status < 0 else ("exited", status)
    say(control, f"{word} {number} {left}")


def prctl(option: int, value: int) -> None:
    if LINUX and ctypes.CDLL(None).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(0, f"prctl {option} is refused")


def read_exactly(control: int, size: int) -> bytes:
    """Nothing if the worker is gone before it has said all."""
    read = b""
    while len(read) < size:
        piece = os.read(control, size - len(read))
        if not piece:
            return b""
        read += piece
    return read


def say(control: int, line: str) -> None:
    try:
        os.write(control, line.encode() + b"\n")
    except OSError:
        return  # the worker is gone; there is nobody to tell


def heed_signals() -> int:
    """Turn signals into bytes of a pipe, so that they can be waited for with everything else."""
    # The thread that started us may have blocked some, and the program would inherit that.
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
    # The second way to notice that the worker is gone: a copy of it might hold the socket open. To
    # the kernel a parent is a thread: that of the attempts' event loop, which outlives them.
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != worker:
        os._exit(0)


def start(order: Order) -> tuple[int, str]:
    """The number of the program, or why there is none."""
    if order.uid != -1:
        os.chown(order.home, order.uid, order.gid)
    told, tell = os.pipe()
    warden = os.getpid()
    program = os.fork()
    if program == 0:
        try:
            become(order, warden)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the worker hears of it
            os.write(tell, repr(error).encode()[:1000])
        finally:
            os._exit(127)
    os.close(tell)
    problem = os.read(told, 1000).decode(errors="replace")
    os.close(told)
    return program, problem


def become(order: Order, warden: int) -> None:
    """Turn this process into the program. It is the only one in a session of its own."""
    os.setsid()
    os.umask(0o077)
    if order.uid != -1:
        os.setgroups([])
        os.setgid(order.gid)
        os.setuid(order.uid)
    os.chdir(order.cwd)
    # After the change of user, which clears it.
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if os.getppid() != warden:
        os._exit(127)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these; programs expect them
        signal.signal(number, signal.SIG_DFL)
    for name, value in order.limits.items():
        limit_self(getattr(resource, name), value)
    os.execve(order.argv[0], order.argv, order.env)  # noqa: S606 - no shell is the point


def limit_self(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def tend(control: int, wake: int, program: int) -> int | None:
    """Wait until the program ends by itself, or everything has to be ended; its status, if known.

    Asked to stop, all of them get SIGTERM, and the time that the worker said to be gone.
    """
    events = select.poll()
    events.register(control, select.POLLIN)
    events.register(wake, select.POLLIN)
    status: int | None = None
    deadline: float | None = None
    while True:
        found, anybody = reap(program)
        status = found if status is None else status
        if (status is not None and deadline is None) or not anybody:
            return status
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            return status
        ready = {where for where, _ in events.poll(None if left is None else left * 1000)}
        if wake in ready and told_to_go(wake):
            return status
        if control in ready:
            line = read_some(control)
            if not line or deadline is not None:
                return status
            deadline = time.monotonic() + int(line) / 1000
            # A stopped process would not get the signal before it goes on.
            signal_all(program, signal.SIGTERM)
            signal_all(program, signal.SIGCONT)


def read_some(control: int) -> bytes:
    try:
        return os.read(control, 64)
    except ConnectionError:
        return b""


def told_to_go(wake: int) -> bool:
    """Whether any of the signals that came was not about a child."""
    try:
        return any(number != signal.SIGCHLD for number in os.read(wake, 4096))
    except BlockingIOError:
        return False


def reap(program: int) -> tuple[int | None, bool]:
    """Bury the dead; the program's status if it is among them, and whether children are left."""
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
    """Kill all that is left and wait until it is gone; how many were not, and the status."""
    status = -signal.SIGKILL.value
    deadline = time.monotonic() + KILLING
    while True:
        found, anybody = reap(program)
        status = status if found is None else found
        if not anybody and not outside_group(program):
            return 0, status
        if time.monotonic() > deadline:
            return max(1, len(descendants())), status
        signal_all(program, signal.SIGKILL)
        select.select([wake], [], [], LOOK_AGAIN)
        told_to_go(wake)


def outside_group(program: int) -> bool:
    """Where orphans are not ours: whether the program's group still has members."""
    if LINUX:
        return False
    try:
        os.killpg(program, 0)
    except OSError:
        return False
    return True


def signal_all(program: int, number: int) -> None:
    """Signal whole groups: that reaches processes that are being forked at this moment, too."""
    groups = set(descendants().values()) if LINUX else {program}
    for group in groups - {os.getpgrp()}:  # nobody can join ours: it is another session
        try:
            os.killpg(group, number)
        except OSError:
            continue  # gone meanwhile


def descendants() -> dict[int, int]:
    """All processes below this one, each with its group."""
    parents: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc") if LINUX else ():  # noqa: PTH208 - pathlib takes 10 ms
        try:
            with open(f"/proc/{int(name)}/stat", "rb") as file:  # noqa: PTH123 - as above
                _, parent, group = file.read().rpartition(AFTER_NAME)[2].split()[:3]
        except (OSError, ValueError):
            continue
        parents[int(name)] = int(parent), int(group)
    found: dict[int, int] = {}
    near = {os.getpid()}
    while near:
        near = {one for one, (parent, _) in parents.items() if parent in near} - found.keys()
        found.update((one, parents[one][1]) for one in near)
    return found


def remove(folder: str) -> None:
    try:
        os.rmdir(folder)  # noqa: PTH106 - as above
    except OSError:
        import shutil  # noqa: PLC0415 - another 10 ms, for those who left something there

        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
