"""FFmpeg with the frei0r plugins: every filter equals the command line, by both clocks, and what is wrong is told."""

import os
import re
import shutil
import subprocess
import sys

from common import BUILT, CLI, FRAMES, HEIGHT, ROOT, WIDTH, WORK, Checks, Clip
from common import chain_of, entries, expected, interleaved, md5, trials

FFMPEG = os.environ.get("GRAINFIELD_FFMPEG", "ffmpeg")
version = subprocess.run([FFMPEG, "-version"], capture_output=True, text=True, check=True).stdout.split()[2]
check = Checks(f"frei0r in FFmpeg {version}")
FOLDER = WORK / "frei0r"


def install(*names):
    """As the command does it."""
    line = [CLI, "frei0r", "install", *names, "--to", FOLDER, "--plugin", BUILT / "libgrainfield_frei0r.so"]
    return subprocess.run(line, capture_output=True, text=True)


def run(clip, filters, rate="24", more=()):
    """What comes out of FFmpeg, as hashes, and what it said."""
    raw = WORK / "raw"
    raw.write_bytes(b"".join(interleaved([frame[i] for i in (2, 0, 1, 3)], 1) for frame in clip.frames))
    line = [FFMPEG, "-nostdin", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{WIDTH}x{HEIGHT}", "-r", rate]
    line += ["-i", raw, *more, "-vf", filters, "-f", "rawvideo", "-pix_fmt", "rgba", "-"]
    done = subprocess.run(line, capture_output=True, env={**os.environ, "FREI0R_PATH": str(FOLDER)})
    size = WIDTH * HEIGHT * 4
    frames = [done.stdout[i : i + size] for i in range(0, len(done.stdout), size)]
    hashes = [md5([frame[c::4] for c in (1, 2, 0, 3)]) for frame in frames]
    return hashes, done.stderr.decode(), done.returncode


def effect(name, *params):
    """One effect in FFmpeg's graph: ``params`` by their place, with ``\\`` before what is read on the way there: by the
    filter, as its options, and in the graph."""
    protect = lambda text, special: re.sub(f"([{re.escape(special)}])", r"\\\1", text)
    text = "|".join(protect(param, "\\'|") for param in params)
    text = protect(protect(text, "\\:'"), "\\,;[]'")
    return f"frei0r=filter_name={name}:filter_params={text}"


def settings(name, trial):
    """A trial's settings as the first parameter has them; FFmpeg takes "|" for the next one."""
    chain = chain_of(name, trial)
    return chain.split("=", 1)[1] if "=" in chain else ""


def all_equal(clip, all_trials, wanted):
    for name, trial in ((name, all_trials[name]) for _, name in wanted):
        plugin = "grainfield_" + name.replace("-", "_")
        got, said, code = run(clip, effect(plugin, settings(name, trial), "24"))
        check.equal(f"{name}: {said}", (code, got), (0, wanted[clip.name, name]))


def more(clip):
    chain = "noise=strength=20,grain=preset=16mm"
    got, said, _ = run(clip, effect("grainfield", chain, "24"))
    check.equal(f"a chain: {said}", got, clip.hashes(chain))
    got, said, _ = run(clip, effect("grainfield", chain, "24", "auto", "1001", "7"))
    check.equal(f"an offset and a seed: {said}", got, clip.hashes(chain, "--frame-offset", "1001", "--seed", "7"))
    ntsc = "24000/1001"
    moving = "particles=amount=20:size=20"
    got, said, _ = run(clip, effect("grainfield", moving, ntsc), rate=ntsc)
    check.equal(f"a rate: {said}", got, clip.hashes(moving, "--rate", ntsc))
    # Two effects of one library, and two libraries, in one process.
    one, two = effect("grainfield_noise", "strength=20", "24"), effect("grainfield_dust", "amount=300:size=60", "24")
    got, said, _ = run(clip, f"{one},{two}")
    check.equal(f"two at once: {said}", got, clip.hashes("noise=strength=20,dust=amount=300:size=60"))
    # Numbers by their place, as an editor sets them: strength is the second of noise's own, 0 to 1 for 0 to 50.
    got, said, _ = run(clip, effect("grainfield_noise", "", "24", "auto", "", "", "", "0.24"))
    check.equal(f"a number: {said}", got, clip.hashes("noise=strength=12"))
    recipe = WORK / "frei0r.toml"
    recipe.write_text('[[filter]]\nname = "noise"\nstrength = 14\n')
    got, said, _ = run(clip, effect("grainfield", str(recipe), "24"))
    check.equal(f"a recipe's file: {said}", got, clip.hashes("noise=strength=14"))


def errors(clip):
    plain = [md5(frame) for frame in clip.frames]
    for what, plugin, params, part in [
        ("a number", "grainfield_noise", ["strength=-1", "24"], "-1 is not from 0 to 255"),
        ("a filter", "grainfield", ["noize", "24"], "did you mean 'noise'?"),
        ("a rate", "grainfield_noise", ["", "x"], "Rate: 'x'"),
        ("a size", "grainfield_scale", ["width=48", "24"], f"here it must stay {WIDTH}x{HEIGHT}"),
        ("a clock", "grainfield_noise", ["", "24", "x"], "Clock: 'x'"),
    ]:
        got, said, code = run(clip, effect(plugin, *params))
        check.equal(f"{what}: the picture passes", (code, got), (0, plain))
        check.true(f"{what}: {part!r} is told once, in {said!r}", said.count(part) == 1)


def installing():
    done = install("noise")
    check.equal(f"one: {done.stderr}", (done.returncode, sorted(p.name for p in FOLDER.iterdir())), (0, ["grainfield_noise.so"]))
    check.true("none of that name", install("noize").returncode == 2)
    done = install()
    check.equal(f"all: {done.stderr}", done.returncode, 0)
    count = len(list(FOLDER.glob("*.so")))
    check.equal("a library for each filter and one for recipes", count, len(entries()) + 1)


def kdenlive():
    """The descriptions are XML that names what the plugins have."""
    from xml.etree import ElementTree

    folder = WORK / "kdenlive"
    subprocess.run([BUILT / "grainfield-describe", "kdenlive", folder], check=True)
    for name in trials():
        root = ElementTree.parse(folder / f"frei0r_grainfield_{name.replace('-', '_')}.xml").getroot()
        params = root.findall("parameter")
        check.equal(f"{name}: places", [p.get("name") for p in params], [str(i) for i in range(len(params))])


def main():
    all_trials = trials()
    installing()
    kdenlive()
    clip = Clip("rgba8")
    all_equal(clip, all_trials, expected([clip], all_trials))
    more(clip)
    errors(clip)
    return check.end()


sys.exit(main())
