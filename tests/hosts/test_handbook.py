"""The handbook's lines for other programs, run as they stand. Usage: test_handbook.py PYTHON-OF-VAPOURSYNTH|- PYTHON|-"""

import os
import re
import subprocess
import sys

from common import BUILT, FULL, ROOT, WORK, Checks

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
    "GST_REGISTRY": str(WORK / "registry"),
    "QT_QPA_PLATFORM": "offscreen",
    "VAPOURSYNTH_EXTRA_PLUGIN_PATH": str(plugins),
}
clip = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=24:duration=0.5", WORK / "in.mp4"]
subprocess.run(clip, check=True)
seen = 0
for kind, code in blocks:
    seen += 1
    if kind == "bash":
        if "melt" in code and not FULL:
            continue
        code = re.sub(r"^melt", f"{sys.executable} {ROOT}/tests/hosts/mlt.py melt", code)
        line = ["bash", "-euo", "pipefail", "-c", code]
    elif "vapoursynth" in code:
        if vapoursynth == "-":
            continue
        line = [vapoursynth, "-c", code + "print(sum(1 for f in vs.get_output(0).clip.frames()), 'frames')"]
    elif python == "-":
        continue
    else:
        line = [python, "-c", code + "assert frames.std() > 1"]
    done = subprocess.run(line, cwd=WORK, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    check.equal(f"{code}{done.stdout}{done.stderr}", done.returncode, 0)
check.equal("blocks of lines", seen, 4)
for made in ["grain.mkv", "both.mkv", *(["melt.mkv", "gstreamer.ogv"] if FULL else [])]:
    check.true(f"{made} is there", (WORK / made).is_file() and (WORK / made).stat().st_size > 1000)
sys.exit(check.end())
