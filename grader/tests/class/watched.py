"""watched.py — runs a command and measures it; class.py and large.py use it."""
import os, re, subprocess, tempfile, threading, time


def watched(command, env=None):
    """Returns (status, what it printed, processor seconds of it and all that it waited for, the most MiB and descriptors of its own process)."""
    most = {"VmHWM": 0, "fds": 0}

    def look(pid):
        while True:
            try:
                kib = re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read())
                most["VmHWM"] = max(most["VmHWM"], int(kib[1]) if kib else 0)
                most["fds"] = max(most["fds"], len(os.listdir(f"/proc/{pid}/fd")))
            except OSError:
                return
            time.sleep(0.05)

    with tempfile.TemporaryFile() as said:
        p = subprocess.Popen(command, stderr=said, stdout=said, env={**os.environ, **(env or {})})
        threading.Thread(target=look, args=(p.pid,), daemon=True).start()
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return p.returncode, said.read().decode(), used.ru_utime + used.ru_stime, most["VmHWM"] >> 10, most["fds"]
