#!/usr/bin/env python3
"""What a process may do where it is started: prints a JSON object, an attempt -> "let" or the name of the error it met.

    unit_probe.py FOLDER      a folder that it may write to

hardened_unit_checks.py starts it once in the sandbox of the unit, where each attempt must be refused, and once without, where
they must be let: an attempt that fails everywhere shows nothing. None of them changes what the machine goes on with.
"""
import ctypes
import errno
import json
import mmap
import os
import socket
import stat
import sys

CLONE_NEWUSER = 0x10000000
PERSONALITY_READ_IMPLIES_EXEC = 0x0400000
PTRACE_TRACEME = 0

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.personality.argtypes = [ctypes.c_ulong]
folder = sys.argv[1]


def call(name, *words):
    answer = getattr(libc, name)(*words)
    if answer in (-1, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), name)
    return answer


def in_a_child(work):
    """What cannot be taken back is done by a process that ends."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended:
        raise OSError(ended, "in a child") if ended > 0 else OSError(errno.EPERM, f"killed by {-ended}")


def write(path):
    with open(path, "wb"):
        pass
    os.unlink(path)


def map_memory(protection):
    return call("mmap", None, mmap.PAGESIZE, protection, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)


def set_user_id():
    path = os.path.join(folder, "probe")
    with open(path, "wb"):
        pass
    try:
        os.chmod(path, stat.S_ISUID | 0o700)
    finally:
        os.unlink(path)


def make_device():
    path = os.path.join(folder, "probe-null")
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    os.unlink(path)


def make_cgroup():
    os.mkdir("/sys/fs/cgroup/probe")
    os.rmdir("/sys/fs/cgroup/probe")


ATTEMPTS = {
    "write to /usr": lambda: write("/usr/probe"),
    "write to /etc": lambda: write("/etc/probe"),
    "write beside the data directory": lambda: write("/var/lib/probe"),
    "write to /srv": lambda: write("/srv/probe"),
    "look into /root": lambda: os.listdir("/root"),
    "see the processes of others": lambda: os.stat("/proc/1"),
    "set what the kernel does": lambda: os.close(os.open("/proc/sys/net/ipv4/ip_forward", os.O_WRONLY)),
    "make a cgroup": make_cgroup,
    "make a device": make_device,
    "memory that is written and run": lambda: map_memory(mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC),
    "run what was written": lambda: call("mprotect", map_memory(mmap.PROT_READ | mmap.PROT_WRITE), mmap.PAGESIZE,
                                         mmap.PROT_READ | mmap.PROT_EXEC),
    "a namespace of its own": lambda: in_a_child(lambda: call("unshare", CLONE_NEWUSER)),
    "a socket of netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close(),
    "a socket of packets": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close(),
    "be scheduled before all others": lambda: in_a_child(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
    "a program that runs as its owner": set_user_id,
    "another personality": lambda: in_a_child(lambda: call("personality", PERSONALITY_READ_IMPLIES_EXEC)),
    "change the root": lambda: in_a_child(lambda: os.chroot("/")),
    "another owner for a file": lambda: os.chown(folder, os.stat(folder).st_uid, os.stat(folder).st_gid),
    "mount": lambda: in_a_child(lambda: call("mount", b"probe", b"/mnt", b"tmpfs", 0, None)),
    "a name for the machine": lambda: call("sethostname", b"probe", 5),
    "be traced": lambda: in_a_child(lambda: call("ptrace", PTRACE_TRACEME, 0, 0, 0)),
}


def outcome(attempt):
    try:
        attempt()
        return "let"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))


print(json.dumps({name: outcome(attempt) for name, attempt in ATTEMPTS.items()}), flush=True)
