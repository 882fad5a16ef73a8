"""The handbook's lines for other programs, run as they stand. Usage: test_handbook.py PYTHON-OF-VAPOURSYNTH | - PYTHON"""

import os
import re
import subprocess
import sys

from common import BUILT, ROOT, WORK, Checks

check = Checks("The handbook")
text = (ROOT / "docs/src/programs.md").read_text()
blocks = re.findall(r"```(python|bash)\n(.*?)```", text, re.S)
vapoursynth, python = sys.argv[1:3]
plugins = WORK / "plugins"
plugins.mkdir()
os.symlink(BUILT / "libgrainfield_vapoursynth.so", plugins / "libgrainfield_vapoursynth.so")
environment = {
    **os.environ,
    "PATH": f"{BUILT}:{os.environ['PATH']}",
    "HOME": str(WORK),
    "FREI0R_PATH": str(WORK / ".frei0r-1/lib"),
    "VAPOURSYNTH_EXTRA_PLUGIN_PATH": str(plugins),
}
clip = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=24:duration=0.5", WORK / "in.mp4"]
subprocess.run(clip, check=True)
seen = 0
for kind, code in blocks:
    seen += 1
    if kind == "bash":
        line = ["bash", "-euo", "pipefail", "-c", code]
    elif "vapoursynth" in code:
        if vapoursynth == "-":
            continue
        line = [vapoursynth, "-c", code + "print(sum(1 for f in vs.get_output(0).clip.frames()), 'frames')"]
    else:
        line = [python, "-c", code + "assert frames.std() > 1"]
    done = subprocess.run(line, cwd=WORK, env=environment, capture_output=True, text=True)
    check.equal(f"{code}{done.stdout}{done.stderr}", done.returncode, 0)
check.equal("a block for each host", seen, 3)
check.true("FFmpeg has made files", (WORK / "grain.mkv").is_file() and (WORK / "both.mkv").is_file())
sys.exit(check.end())
