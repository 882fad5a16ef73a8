"""What Grainfield costs beside other programs: `./x bench peers [--write | --compare] [ROW ...]`, ROW a part of a name.

Processor time (user and system) of a whole process with a filter, less that of the same run without it, in ms a frame
of 1920 x 1080, on one thread. All runs of a row take turns; each turn gives a ratio, and the table has the medians.
Inside VapourSynth and Python only the frames count, not the start: vs-noise and AddGrain first draw a store of noise.

--write puts the table into benches/PEERS.md, which has one for each processor. --compare names the rows whose ratio
is more than 5 % above the one there, beyond the quartiles of both, in the fastest runs too, and in a second measurement;
the exit status is then 1, or 2 if the file has no table of this processor. ADDGRAIN=FILE names AddGrain's library.
"""

import argparse
import datetime
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/hosts"))
import run as hosts

PEERS, MADE = ROOT / "benches/PEERS.md", ROOT / "target/peers"
GRAINFIELD, SITE = ROOT / "target/release/grainfield", hosts.HOSTS / "site-release"
TURNS, SLOWER = 7, 1.05
SIZE = ", MB a frame"
# FFmpeg keeps freed memory: else its page faults, most of what it takes to pass frames on, differ tenfold between runs.
KEPT = "glibc.malloc.arena_max=1:glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=4294967296"
FORMATS = {8: "yuv420p", 10: "yuv420p10le", 16: "yuv420p16le"}
# Frames of the clips, which are 4 GB of memory in all.
CLIPS = {8: 500, 10: 250, 16: 150}
SHARED = Path("/dev/shm")
MEMORY = tempfile.TemporaryDirectory(prefix="peers-", dir=SHARED if SHARED.is_dir() else None)
FOLDER = Path(MEMORY.name)


class Failed(Exception):
    """What a program said when it failed."""


class Command(NamedTuple):
    """A run of a program. A script in a host prints the seconds that count; of other programs all do."""

    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()

    def seconds(self):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            variables = {**os.environ, **dict(self.environment)}
            child = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=variables)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            errors.seek(0)
            if status:
                said = errors.read().decode(errors="replace").strip() or f"exit status {child.returncode}"
                raise Failed(f"{Path(self.words[0]).name}: {said.splitlines()[0]}")
            return float(out.read() or used.ru_utime + used.ru_stime)


def command(*words, **environment):
    return Command(tuple(map(str, words)), tuple((name, value) for name, value in environment.items() if value))


@dataclass(frozen=True)
class Side:
    """One program of a row: what it runs at a level, with the filter and perhaps without it; or why it is absent."""

    name: str
    frames: int = 1
    runs: Callable[[str], list[Command]] | None = None
    absent: str = ""
    output: Path | None = None


@dataclass(frozen=True)
class Row:
    """Work to measure. The goal is a ratio, or milliseconds where the rival is the reference."""

    name: str
    ours: Side
    rivals: list[Side]
    goal: float | None = None


@dataclass(frozen=True)
class Line:
    """A line of the table: figures with AVX2, with the best level and of the rival; the ratio between its quartiles, and
    that of the fastest runs, which is not printed."""

    row: str
    rival: str
    figures: tuple[float, ...] = ()
    ratio: tuple[float, ...] = ()
    goal: str = ""
    least: float = 0

    def __str__(self):
        avx2, best, theirs = map(number, self.figures) if self.figures else "–––"
        cells = self.row, avx2, best, self.rival, theirs, spread(self.ratio) if self.ratio else "–", self.goal
        return f"| {' | '.join(cells)} |"


def number(value):
    return f"{value:.0f}" if abs(value) >= 100 else re.sub(r"^(-?)0\.", r"\1.", f"{value:.3g}")


def spread(ratio):
    return "{1} ({0} to {2})".format(*map(number, ratio))


# Programs


def reported(*words, pattern=r"\d+(\.\d+)+"):
    """What a program prints that looks like a version."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    return re.search(pattern, done.stdout)[0]


@cache
def installed(name, minor, *packages):
    """A Python of at least this minor version with packages, and the version of the last; None if there is none."""
    python = hosts.find_python(minor)
    made = python and hosts.environment(name, python, hosts.NUMPY, *packages)
    code = f"from importlib.metadata import version as v; print(v({packages[-1]!r}))"
    return (made, reported(made, "-c", code)) if made else (None, "")


def render(*words, level=""):
    return command(GRAINFIELD, "render", *words, "-q", "--threads", 1, GRAINFIELD_LEVEL=level)


@cache
def ffmpegs():
    """Names and paths: the system's, and the newest, which may be absent."""
    paths = ["ffmpeg", hosts.newest_ffmpeg()]
    return [(f"FFmpeg {reported(path, '-version')}" if path else "newest FFmpeg", path) for path in paths]


def ffmpeg(path, source, *words):
    # With no more than AVX2, which is what it is compared with.
    start = [path, "-nostdin", "-v", "error", "-y", "-cpuflags", "-avx512-avx512icl", "-threads", 1]
    return command(*start, *source, "-filter_threads", 1, "-threads", 1, *words, GLIBC_TUNABLES=KEPT)


@cache
def clip(bits):
    """A photograph that pans."""
    path = FOLDER / f"{bits}.y4m"
    pan = rf"scale=2400:1350:flags=bicubic,crop=1920:1080:x=mod(2*n\,480):y=mod(n\,270),format={FORMATS[bits]}"
    photograph = ["-loop", 1, "-i", ROOT / "samples/pictures/flower.jpg"]
    ffmpeg("ffmpeg", photograph, "-frames:v", CLIPS[bits], "-vf", pan, "-strict", -1, path).seconds()
    return path


HOST = """
import time
call(0)
started = time.process_time()
for n in range(1, {frames} + 1): call(n)
print(time.process_time() - started)
"""
VAPOURSYNTH = """
import vapoursynth as vs
core = vs.core
core.num_threads = 1
for plugin in {plugins}: core.std.LoadPlugin(plugin)
# One frame for all numbers, which the source keeps, so that no filter can work in place.
grey = [110 << ({bits} - 8)] * 3
source = core.std.BlankClip(None, 1920, 1080, vs.YUV420P{bits}, {frames} + 1, color=grey, keep=True)
made = {made}
core.std.SetVideoCache(made, 0)
call = lambda n: made.get_frame(n) and None
"""
PYTHON = """
import numpy
image = numpy.random.default_rng(1).integers(0, 256, (1080, 1920, 3), numpy.uint8)
call = {made}
"""
REFERENCE = """
import hashlib
frame = bytes(3110400)
call = lambda n: hashlib.blake2b(frame)
"""


def script(python, template, level="", **values):
    others = {"PYTHONPATH": str(SITE), "NO_ALBUMENTATIONS_UPDATE": "1"}
    return command(python, "-c", (template + HOST).format(**values), GRAINFIELD_LEVEL=level, **others)


# Sides of rows


def ours(chain, bits, frames, less=""):
    """A chain, less `less` or a run without filters."""

    def runs(level):
        source = [clip(bits), "null:", "--frames", f"0-{frames - 1}"]
        nothing = render(*source, "-f", less, level=level) if less else render(*source)
        return [render(*source, "-f", chain, level=level), nothing]

    return Side(f"Grainfield, `{chain}`", frames, runs)


def theirs(chain, bits, frames, programs=1):
    """FFmpeg's filters, back to the format of the clip."""

    def runs(path, _):
        start = [path, ["-i", clip(bits)], "-frames:v", frames]
        end = ["-f", "null", "-"]
        return [ffmpeg(*start, "-vf", f"{chain},format={FORMATS[bits]}", *end), ffmpeg(*start, *end)]

    names = ", ".join(f"`{part.split('=')[0]}`" for part in chain.split(","))
    why = "the Python package imageio-ffmpeg could not be installed"
    found = ffmpegs()[:programs]
    return [Side(f"{name}, {names}", frames, partial(runs, path), "" if path else why) for name, path in found]


def in_vapoursynth(made, bits, frames, name=""):
    python, version = installed("peers-vapoursynth", 12, "vapoursynth>=75", "vsnoise")
    addgrain = os.environ.get("ADDGRAIN")
    plugins = [str(ROOT / "target/release/libgrainfield_vapoursynth.so"), *([addgrain] if addgrain else [])]
    run = partial(script, python, VAPOURSYNTH, frames=frames, bits=bits, plugins=plugins)
    why = "" if python else "VapourSynth and vsnoise could not be installed, which need Python 3.12"
    if "grain.Add" in made and not addgrain:
        why = "no package registry has it; ADDGRAIN=FILE names its library"
    return Side(name.format(version), frames, lambda level: [run(level, made=made), run(made="source")], why)


def in_python(made, frames, name=""):
    python, version = installed("peers-python", 10, "albumentations")
    why = "" if python else "it could not be installed"
    runs = lambda level: [script(python, PYTHON, level, frames=frames, made=made)]
    return Side(f"albumentations {version}, {name}", frames, runs, why)


def reference():
    """Work that no change here makes slower, for rows without a rival."""
    name = f"(BLAKE2b in Python {platform.python_version()})"
    return [Side(name, 200, lambda _: [script(sys.executable, REFERENCE, frames=200)])]


@cache
def with_vector(bits):
    """An AV1 stream with libaom's second test vector of film grain, and its pictures without grain."""
    stream, plain = MADE / f"vector-2-{bits}.ivf", FOLDER / f"av1-{bits}.y4m"
    if not stream.exists():
        MADE.mkdir(parents=True, exist_ok=True)
        part = MADE / "part.ivf"
        codec = "-c:v libaom-av1 -cpu-used 8 -usage realtime -crf 55 -lag-in-frames 0 -aom-params film-grain-test=2"
        ffmpeg("ffmpeg", ["-i", clip(bits)], "-frames:v", 100, *codec.split(), part).seconds()
        part.rename(stream)
    decode(stream, 0, "-o", plain).seconds()
    return stream, plain


def decode(stream, grain, *to):
    return command("dav1d", "-q", "-i", stream, "--threads", 1, "--cpumask", "avx2", "--filmgrain", grain, *to)


def av1grain(bits):
    """Beside dav1d, with its grain less without; the samples are equal."""
    def rival(_):
        return [decode(with_vector(bits)[0], grain, "--muxer", "null", "-o", "/dev/null") for grain in (1, 0)]

    def runs(level):
        source = [with_vector(bits)[1], "null:"]
        return [render(*source, "-f", "av1grain=vector=2", level=level), render(*source)]

    version, why = (reported("dav1d", "--version"), "") if shutil.which("dav1d") else ("", "it is not installed")
    rivals = [Side(f"dav1d {version}, its grain", 100, rival, why)]
    return Row(f"`av1grain=vector=2`, {bits} bits", Side("", 100, runs, why), rivals, 1)


@cache
def pngs():
    folder = FOLDER / "png"
    folder.mkdir()
    render(clip(8), folder / "f.%04d.png", "-f", "grain=preset=35mm", "--frames", "0-19").seconds()
    return folder / "f.%04d.png"


@cache
def mp4():
    path = FOLDER / "in.mp4"
    codec = ["-vf", "scale=960:540", "-c:v", "libx264", "-preset", "fast", "-crf", 15]
    ffmpeg("ffmpeg", ["-i", clip(8)], "-frames:v", 60, *codec, path).seconds()
    return path


def files(name, source, target, frames, goal, ours=(), theirs=()):
    """From files to files with noise of one deviation: whole runs."""

    outputs = [FOLDER / f"{side}{Path(target).suffix}" for side in ("ours", "theirs")]
    for folder in outputs:
        folder.mkdir(exist_ok=True)
    to_ours, to_theirs = [folder / target for folder in outputs]

    def rival(_):
        return [ffmpeg("ffmpeg", ["-i", source()], "-vf", "noise=alls=14:allf=t", *theirs, to_theirs)]

    def runs(level):
        noise = ["-f", "noise=strength=7.7:distribution=gaussian"]
        return [render(source(), to_ours, "-y", *noise, *ours, level=level)]

    rivals = [Side(f"{ffmpegs()[0][0]}, `noise`", frames, rival, output=outputs[1])]
    return Row(name, Side("", frames, runs, output=outputs[0]), rivals, goal)


# Rows


def filtered(chain, bits, frames, rivals, goal=None, less=""):
    name = f"`{chain}` less `{less}`" if less else f"`{chain}`"
    return Row(f"{name}, {bits} bits", ours(chain, bits, frames, less), rivals, goal)


def beside_ffmpeg(chain, rival, bits, frames, goal=None, programs=1):
    return filtered(chain, bits, frames, theirs(rival, bits, frames, programs), goal)


def rows():
    uniform, gaussian = "noise=strength=6", "noise=strength=6:distribution=gaussian"
    for bits, frames in CLIPS.items():
        yield beside_ffmpeg(uniform, "noise=alls=10:allf=t+u", bits, frames, 0.9, programs=2)
        yield beside_ffmpeg(gaussian, "noise=alls=6:allf=t", bits, frames, 1.2, programs=2)
    for bits, frames in CLIPS.items():
        for kind, goal in (("", 1.3), (', distribution="gaussian"', 1.6)):
            made = f"core.grf.Noise(source, strength=4{kind})"
            other = [("vs-noise {}", "core.noise.Add(source, var=16, uvar=16, xsize=1, ysize=1, opt=3)")]
            other += [("AddGrain", "core.grain.Add(source, var=16, uvar=16, opt=3)")] * (bits == 8)
            rivals = [in_vapoursynth(theirs, bits, frames, name) for name, theirs in other]
            name = f"VapourSynth, `{made[5:].replace('source, ', '')}`, {bits} bits"
            yield Row(name, in_vapoursynth(made, bits, frames), rivals, goal if bits == 8 else 1.25)
    for preset, work in (("35mm", ((8, 250, 1.2), (10, 200, 1.5))), ("super8", ((8, 100, 3), (10, 100, 3.5)))):
        for bits, frames, goal in work:
            yield filtered(f"grain=preset={preset}", bits, frames, reference(), goal)
    for bits in (8, 10):
        coarse = "core.noise.Add(source, var=16, uvar=16, xsize=2, ysize=2, opt=3)"
        rival = in_vapoursynth(coarse, bits, 200, "vs-noise {}, size 2")
        made = in_vapoursynth('core.grf.Grain(source, preset="35mm")', bits, 200)
        yield Row(f'VapourSynth, `grf.Grain(preset="35mm")`, {bits} bits', made, [rival])
    yield from map(av1grain, (8, 10))
    for bits, frames, goal in ((8, 250, 0.5), (10, 200, 1)):
        yield filtered(f"{uniform},dither=mode=uniform", bits, frames, reference(), goal, less=uniform)
    four = "fade=amount=0.5,levels=gamma=1.2,color=contrast=1.1:saturation=1.2,flicker"
    for bits, frames in ((8, 200), (10, 150)):
        yield beside_ffmpeg("fade=amount=0.5", "fade=t=in:s=0:n=2000", bits, frames, 0.5)
        yield filtered(four, bits, frames, [ours("fade=amount=0.5", bits, frames)], 1.5)
        yield beside_ffmpeg("levels=gamma=1.2", "lutyuv=y=gammaval(1/1.2)", bits, frames, 0.9)
        yield beside_ffmpeg("blur=sigma=2", "gblur=sigma=2", bits, 60, 0.4)
    for chain, rival, frames, goal in (
        ("color=contrast=1.1:saturation=1.2", "eq=contrast=1.1:saturation=1.2", 200, 0.5),
        ("flicker", "eq=brightness=0.02*sin(n):eval=frame", 200, 0.5),
        ("blur=sigma=20", "gblur=sigma=20", 60, 0.4),
        ("unsharp", "unsharp", 40, 0.25),
        ("transform=rotate=6", "rotate=6*PI/180", 30, 0.3),
        ("transform=zoom=1.3", "scale=iw*1.3:-2,crop=1920:1080", 80, 0.3),
        ("deband", "deband", 30, None),
        ("scale=width=960", "scale=960:540:flags=bicubic+accurate_rnd", 60, None),
        # Both look at 5 by 5 places and compare 3 by 3 samples.
        ("denoise", "nlmeans=s=4:p=3:r=5", 20, None),
    ):
        yield beside_ffmpeg(chain, rival, 8, frames, goal)
    table = ROOT / "samples/luts/warm-print.cube"
    lut = beside_ffmpeg(f"lut={table}", f"lut3d={table}:interp=tetrahedral", 8, 20)
    yield replace(lut, name="`lut=warm-print.cube`, 8 bits")
    for chain, frames, goal in (
        ("analog", 8, None),
        ("analog=preset=crt-arcade", 8, None),
        ("atmosphere=preset=smoke", 40, 12),
        ("atmosphere=preset=fire", 20, None),
        ("glow", 8, None),
        ("halation", 8, None),
        ("particles=preset=snow", 60, 8),
    ):
        yield filtered(chain, 8, frames, reference(), goal)
    yield files("PNG to PNG with noise", pngs, "f.%04d.png", 20, 1 / 4.5)
    codec = ["-preset", "fast", "-crf", 20]
    settings = ["--codec", "libx264", "--preset", "fast", "--crf", 20, "--codec-opt", "threads=1"]
    yield files("mp4 to mp4 with noise, 960 x 540", mp4, "out.mp4", 60, 1, settings, ["-c:v", "libx264", *codec])
    for made, rival in (
        ("gf.noise(image, strength=8, frame=n)", "GaussNoise(std_range=(8 / 255, 8 / 255), p=1)"),
        ('gf.grain(image, preset="35mm", frame=n)', "ISONoise(p=1)"),
    ):
        name, albumentations = rival.split("(")[0], "__import__('albumentations')"
        call = f"lambda n, filter={albumentations}.{rival}: filter(image=image)"
        our_call = "lambda n, gf=__import__('grainfield'): " + made
        yield Row(f"Python, `{made}`, RGB of 8 bits", in_python(our_call, 20), [in_python(call, 20, f"`{name}`")])


# Measurement and the table


def measure(row, turns):
    """The lines of a row, and why programs are absent."""
    if row.ours.absent:
        return [Line(row.name, side.name) for side in row.rivals], {side.name: side.absent for side in row.rivals}
    absent, sides = {}, {"avx2": (row.ours, row.ours.runs("avx2")), "best": (row.ours, row.ours.runs(""))}
    for side in row.rivals:
        try:
            if side.absent:
                raise Failed(side.absent)
            runs = side.runs("avx2")
            runs[0].seconds()
            sides[side.name] = side, runs
        except Failed as error:
            absent[side.name] = str(error)
    times = {run: [] for _, runs in sides.values() for run in runs}
    for turn in range(turns):
        # In turns forwards and backwards, so that a change of the machine's speed meets all alike.
        for run in list(times)[:: -1 if turn % 2 else 1]:
            times[run].append(run.seconds())

    def costs(name):
        """That of each turn, and last that of the fastest runs."""
        side, (with_filter, *without) = sides[name]
        taken, nothing = times[with_filter], times[without[0]] if without else [0] * turns
        pairs = [*zip(taken, nothing), (min(taken), min(nothing))]
        return [(a - b) * 1000 / side.frames for a, b in pairs]

    lines = []
    for side in row.rivals:
        if side.name not in sides:
            lines.append(Line(row.name, side.name))
            continue
        avx2, best, theirs = map(costs, ("avx2", "best", side.name))
        figures = tuple(statistics.median(side[:-1]) for side in (avx2, best, theirs))
        if min(figures) < 0.01:
            absent[f"{row.name} beside {side.name}"] = f"too little to be measured: {figures} ms"
            lines.append(Line(row.name, side.name))
            continue
        *ratios, least = [a / (b or 1e-9) for a, b in zip(avx2, theirs)]
        ratio = tuple(statistics.quantiles(ratios, method="inclusive"))
        unit, reached = (" ms", figures[0]) if side.name.startswith("(") else ("", ratio[1])
        lines.append(Line(row.name, side.name, figures, ratio, judged(row.goal, reached, unit), least))
        if side.output:
            sizes = [sum(f.stat().st_size for f in s.output.iterdir()) / 1e6 / s.frames for s in (row.ours, side)]
            same = (sizes[0] / sizes[1],) * 3
            lines.append(Line(f"{row.name}{SIZE}", side.name, (sizes[0], *sizes), same, judged(1, same[0]), same[0]))
    return lines, absent


def judged(goal, reached, unit=""):
    # By the printed figure, so that they do not contradict each other.
    return f"{number(goal)}{unit} {'met' if float(number(reached)) <= goal else 'missed'}" if goal else ""


def processor():
    file = Path("/proc/cpuinfo")
    found = dict(re.findall(r"^(.+?)\t*: (.*)$", file.read_text(), re.M)) if file.exists() else {}
    name = found.get("model name", platform.processor() or platform.machine())
    return f"{name}, family {found['cpu family']}, model {found['model']}" if "model" in found else name


def best_level():
    words = [GRAINFIELD, *"render pattern:grey:frames=1 null: -f noise -v".split()]
    return reported(*words, pattern=r"(?<=note: level )\w+")


def parsed(section):
    """The ratios of a written table, by work and rival."""
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")]
    figures = {tuple(cells[i].strip() for i in (0, 3)): re.findall(r"[\d.]+", cells[5]) for cells in lines}
    triples = {key: tuple(map(float, found)) for key, found in figures.items() if len(found) == 3}
    return {key: (low, ratio, high) for key, (ratio, low, high) in triples.items()}


def slower(line, old):
    """Beyond both spreads, and in the fastest runs too: other work of the machine slows programs by different factors."""
    before = line.ratio and old.get((line.row, line.rival))
    return bool(before) and min(line.ratio[1], line.least) > SLOWER * before[1] and line.ratio[0] > before[2]


def table(chosen):
    """Measures rows and prints their table; its text and its lines."""
    text, lines, absent = [], [], {}

    def say(line):
        text.append(str(line))
        print(line, flush=True)

    version, best = reported(GRAINFIELD, "--version", pattern=".+"), best_level()
    say(f"{datetime.date.today()}, {version}, levels avx2 and {best}; `./x bench peers`\n")
    say(f"| work | AVX2, ms | {best}, ms | beside | ms | AVX2 : it (quartiles) | goal |")
    say("|---|---:|---:|---|---:|---:|---|")
    for row in chosen:
        made, reasons = measure(row, TURNS)
        lines += made
        absent |= reasons
        for line in made:
            say(line)
    say("")
    for name, reason in absent.items():
        say(f"- not measured: {name}: {reason}")
    return "\n".join(text).strip() + "\n", lines


def compare(chosen, lines, old):
    """Names the lines that are slower than they were; the exit status."""
    keys = {(line.row, line.rival) for line in lines if slower(line, old)}
    # Measured again and longer: the first time other work of the machine may have been in the way.
    again = [measure(row, 2 * TURNS)[0] for row in chosen if row.name in {name.split(SIZE)[0] for name, _ in keys}]
    found = [line for row in again for line in row if (line.row, line.rival) in keys and slower(line, old)]
    new = {(line.row, line.rival) for line in lines if line.ratio}
    names = {row.name for row in chosen}
    for work, rival in sorted(new - old.keys()) + sorted(key for key in old.keys() - new if key[0] in names):
        print(f"not compared, since one of the tables lacks it: {work} beside {rival}")
    for line in found:
        print(f"slower: {line.row} beside {line.rival}: {spread(line.ratio)}, was {spread(old[line.row, line.rival])}")
    print(f"{len(found)} of {len(new & old.keys())} ratios are worse by more than 5 %")
    return 1 if found else 0


def main():
    arguments = sys.argv[1:]
    mode = arguments.pop(0) if arguments[:1] in (["--write"], ["--compare"]) else ""
    if any(word.startswith("-") for word in arguments):
        sys.exit(__doc__)
    if mode == "--write" and arguments:
        sys.exit("peers: --write takes no ROW: the table in the file has all rows")
    os.environ.pop("GRAINFIELD_LEVEL", None)
    title, *sections = PEERS.read_text().split("\n## ")
    tables = {section.split("\n")[0]: section for section in sections}
    name = processor()
    if mode == "--compare" and name not in tables:
        print(f"peers: {PEERS.name} has no table of {name} to compare with, only of: {'; '.join(tables) or 'none'}")
        return 2
    everything = list(rows())
    chosen = [row for row in everything if not arguments or any(part in row.name for part in arguments)]
    if not chosen:
        sys.exit("peers: no row has such a name. They are:\n" + "\n".join(row.name for row in everything))
    hosts.run("cargo", "build", "--release", "--workspace", "--exclude=grainfield-web", "--lib", "--bins")
    hosts.python_site(ROOT / "target/release", SITE)
    text, lines = table(chosen)
    if mode == "--compare":
        return compare(chosen, lines, parsed(tables[name]))
    if mode == "--write":
        tables[name] = f"{name}\n\n{text}"
        PEERS.write_text("\n## ".join([title, *tables.values()]))
    return 0


if __name__ == "__main__":
    # The clips must not stay in memory.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with MEMORY:
        try:
            sys.exit(main())
        except Failed as error:
            sys.exit(f"peers: {error}")
