"""MLT (Kdenlive, Shotcut) and GStreamer with the frei0r plugins: every filter equals the command line."""

import os
import re
import subprocess
import sys

import mlt
from common import BUILT, CLI, FRAMES, HEIGHT, WIDTH, WORK, Checks, Clip, chain_of, expected, interleaved, md5, png, trials

check = Checks("MLT and GStreamer")
FOLDER = WORK / "frei0r"
ENVIRONMENT = {
    **os.environ, "FREI0R_PATH": str(FOLDER), "QT_QPA_PLATFORM": "offscreen", "GST_REGISTRY": str(WORK / "registry"),
}  # fmt: skip
SHAPE = ["-f", "rawvideo", "-pix_fmt", "rgba"]


def opaque():
    """The clip with alpha, but all of it seen: editors lay what is not over black."""
    clip = Clip("rgba8")
    clip.frames = [[*frame[:3], b"\xff" * len(frame[3])] for frame in clip.frames]
    for n, frame in enumerate(clip.frames):
        packed = interleaved([frame[i] for i in (2, 0, 1, 3)], 1)
        png(str(clip.path).replace("%d", str(n)), 6, 8, WIDTH, HEIGHT, packed)
    return clip


def hashes(raw):
    size = WIDTH * HEIGHT * 4
    frames = [raw[i : i + size] for i in range(0, len(raw), size)]
    return [md5([frame[c::4] for c in (1, 2, 0, 3)]) for frame in frames]


def run(line):
    return subprocess.run(line, capture_output=True, env=ENVIRONMENT, timeout=120, stdin=subprocess.DEVNULL)


def melt(name, settings, *more):
    """What MLT makes. It takes a text with ";" for keys of its own, so what has one goes through a recipe's file."""
    made = WORK / "made.mov"
    made.unlink(missing_ok=True)
    effect = ["-filter", f"frei0r.grainfield_{name}", f"0=0={settings}", "1=24"]
    if ";" in settings:
        recipe = WORK / f"{name}.toml"
        lines = [f'{id} = "{value}"' for id, value in re.findall(r"([\w-]+)='(.*?)'", settings)]
        recipe.write_text("\n".join(["[[filter]]", f'name = "{name}"', *lines]))
        effect = ["-filter", "frei0r.grainfield", f"0=0={recipe}", "1=24"]
    consumer = ["-consumer", f"avformat:{made}", "vcodec=qtrle", "pix_fmt=argb", "mlt_image_format=rgba", "an=1"]
    done = mlt.run(["melt", WORK / "in.mov", *effect, *consumer, *more], env=ENVIRONMENT)
    raw = run(["ffmpeg", "-v", "error", "-i", made, *SHAPE, "-"]).stdout
    return hashes(raw), done.returncode


def gstreamer(name, settings):
    made = WORK / "made.raw"
    shape = [f"width={WIDTH}", f"height={HEIGHT}", "format=rgba", "framerate=24/1"]
    effect = [f"frei0r-filter-grainfield-{name.replace('_', '-')}", f"settings={settings}", "rate=24"]
    line = ["filesrc", f"location={WORK / 'in.raw'}", "!", "rawvideoparse", *shape, "!", *effect, "!", "filesink", f"location={made}"]
    done = run(["gst-launch-1.0", "-q", *line])
    return hashes(made.read_bytes()), done.returncode


def main():
    all_trials = trials()
    clip = opaque()
    wanted = expected([clip], all_trials)
    raw = b"".join(interleaved([frame[i] for i in (2, 0, 1, 3)], 1) for frame in clip.frames)
    (WORK / "in.raw").write_bytes(raw)
    size = ["-s", f"{WIDTH}x{HEIGHT}", "-r", "24"]
    run(["ffmpeg", "-v", "error", *SHAPE, *size, "-i", WORK / "in.raw", "-c:v", "qtrle", "-pix_fmt", "argb", WORK / "in.mov"])
    done = run([CLI, "frei0r", "install", "--to", FOLDER, "--plugin", BUILT / "libgrainfield_frei0r.so"])
    check.equal(f"install: {done.stderr}", done.returncode, 0)
    for (_, name), frames in wanted.items():
        chain = chain_of(name, all_trials[name])
        settings = chain.split("=", 1)[1] if "=" in chain else ""
        # Both read the text that they are given once more: MLT to "=", GStreamer's launcher quotes.
        check.equal(f"{name} in MLT", melt(name.replace("-", "_"), settings), (frames, 0))
        quoted = '"' + settings.replace("\\", "\\\\").replace('"', '\\"') + '"'
        check.equal(f"{name} in GStreamer", gstreamer(name, quoted), (frames, 0))
    noise = wanted["rgba8", "noise"]
    settings = chain_of("noise", all_trials["noise"]).split("=", 1)[1]
    check.equal("frames on four threads of MLT", melt("noise", settings, "real_time=-4"), (noise, 0))
    # The order that saved projects count by.
    listed = mlt.run(["melt", "-query", "filter=frei0r.grainfield_noise"], env=ENVIRONMENT).stdout.decode()
    titles = [line.split(": ", 1)[1] for line in listed.splitlines() if line.strip().startswith("title: ")]
    check.equal("places", titles[1:8], ["Settings", "Rate", "Clock", "Offset", "Recipe seed", "Preset", "Strength"])
    return check.end()


sys.exit(main())
