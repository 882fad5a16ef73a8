"""Runs melt, and starts it again where it waits for itself. As a command: ``mlt.py LINE...``.

MLT 7.12 starts the thread that writes the file before it notes that it runs. Where that thread is the faster one, as on a
busy machine, it ends at once, and the main thread then waits for ever, with an empty file. It happens without any filter,
and always where the main thread is held up after ``pthread_create``. Only that is tried again: what is left besides is
one thread for slices of pictures, and our pool. Whatever else does not end is a failure.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

TRIES, LIMIT = 20, 120


def alone(process):
    """The processor time of a process without a consumer's threads, whose others sleep; nothing where it works."""
    try:
        tasks = [task.read_text() for task in Path(f"/proc/{process.pid}/task").glob("*/stat")]
    except FileNotFoundError:
        return None  # a thread has just ended
    # "PID (NAME) STATE ...": the name may hold anything.
    names = [task[task.index("(") + 1 : task.rindex(")")] for task in tasks]
    fields = [task[task.rindex(")") + 2 :].split() for task in tasks]
    others = [name for name in names if not name.startswith("grainfield ")]
    if len(others) > 2 or any(field[0] != "S" for field in fields):
        return None
    return sum(int(field[11]) + int(field[12]) for field in fields)


def run(line, **how):
    """What a line of MLT's gives, as ``subprocess.run`` does."""
    how["env"] = {**how.get("env", os.environ), "MLT_SLICES_COUNT": "1"}
    for _ in range(TRIES):
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
        started, before = time.monotonic(), None
        while True:
            try:
                said = process.communicate(timeout=1.5)
                return subprocess.CompletedProcess(line, process.returncode, *said)
            except subprocess.TimeoutExpired:
                used = alone(process)
                waits = used is not None and used == before
                late = time.monotonic() - started > LIMIT
                before = used
            if waits or late:
                process.kill()
                process.communicate()
                if late:
                    raise AssertionError(f"{line} does not end in {LIMIT} s, and its threads are there")
                break
        print(f"MLT waits for itself: started again: {' '.join(map(str, line[2:4]))}", file=sys.stderr, flush=True)
    raise AssertionError(f"{line} waits for itself, {TRIES} times")


if __name__ == "__main__":
    done = run(sys.argv[1:])
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    sys.exit(done.returncode)
