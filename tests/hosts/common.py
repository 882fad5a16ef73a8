"""What the tests of the hosts share: clips made of fixed bytes, and what the command line makes of them."""

import atexit
import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "target" / os.environ.get("GRAINFIELD_PROFILE", "debug")
CLI = BUILT / "grainfield"
FULL = os.environ.get("GRAINFIELD_FULL") == "1"
WORK = Path(tempfile.mkdtemp(prefix="grainfield-hosts-"))
atexit.register(shutil.rmtree, WORK, ignore_errors=True)
FRAMES, WIDTH, HEIGHT = 5, 96, 64

# Every clip: how the command line reads it; planes are (width, height, bytes a sample) in its order.
FULL_SIZE = (WIDTH, HEIGHT)
CLIPS = {
    "yuv420p8": {"y4m": "420mpeg2", "planes": [(WIDTH, HEIGHT), (WIDTH // 2, HEIGHT // 2), (WIDTH // 2, HEIGHT // 2)], "bits": 8},
    "yuv422p10": {"y4m": "422p10", "planes": [(WIDTH, HEIGHT), (WIDTH // 2, HEIGHT), (WIDTH // 2, HEIGHT)], "bits": 10},
    "yuv444p12": {"y4m": "444p12", "planes": [FULL_SIZE] * 3, "bits": 12},
    "gray8": {"png": 0, "planes": [FULL_SIZE], "bits": 8},
    "gray16": {"png": 0, "planes": [FULL_SIZE], "bits": 16},
    "rgb8": {"png": 2, "planes": [FULL_SIZE] * 3, "bits": 8},
    "rgb16": {"png": 2, "planes": [FULL_SIZE] * 3, "bits": 16},
    "rgba8": {"png": 6, "planes": [FULL_SIZE] * 4, "bits": 8},
    "rgbf32": {"tiff": True, "planes": [FULL_SIZE] * 3, "bits": 32},
}

# What to try each filter with: something that is seen on a small clip. A filter that is not here is tried as it is.
TRIALS = {
    "noise": {"strength": "0=4;4=20", "monochrome": True, "seed": 18446744073709551615},
    "grain": {"preset": "16mm", "size": 8},
    "dither": {"bits": 8, "mode": "hp-tpdf"},
    "fade": {"amount": 0.3, "color": "#ff8000"},
    "levels": {"black": 0.05, "gamma": 1.4},
    "color": {"contrast": 1.3, "saturation": 0.6, "temperature": 0.3},
    "vignette": {"amount": 0.9, "center": (0.3, 0.6)},
    "flicker": {"amount": 0.3},
    "blur": {"sigma": 20, "planes": "all"},
    "unsharp": {"size": 60, "amount": 1.5},
    "transform": {"zoom": "0=1;4=1.3", "rotate": 10, "crop-left": 0.1},
    "weave": {"across": 0.05, "down": 0.05},
    "dust": {"amount": 300, "size": 60},
    "scratches": {"amount": 60, "width": 30},
    "sprites": {"image": WORK / "sprite.png", "position": (50, 30), "scale": 1, "enable": "1-3"},
    "text": {"text": "{frame} {size}", "size": 0.3},
    "overlay": {"file": WORK / "sprite.png", "size": 0.5},
    "particles": {"preset": "snow", "amount": 20, "size": 20},
    "flock": {"agents": 200, "size": 150, "start": 0.5},
    "fluid": {"scene": "dam", "particles": 800, "opacity": 0.8},
    "sand": {"size": 40, "grains": 2000, "start": 0.5},
    "av1grain": {"iso": 6400, "seed": 7},
    "lut": {"file": ROOT / "samples/luts/warm-print.cube"},
    "deband": {"threshold": 32, "range": 64},
    "denoise": {"strength": 60, "detail": 0},
    "scale": {"width": 64, "kernel": "lanczos"},
    "crop": {"left": 4, "bottom": 6},
    "pad": {"top": 4, "right": 8, "color": "#ff8000"},
    "denoise": {"strength": 60, "detail": 0},
    "atmosphere": {"preset": "smoke", "width": 1200, "amount": 4, "seed": 3},
    "analog": {"preset": "vhs-ep-worn", "seed": 3},
    "glow": {"threshold": 0.2},
    "halation": {"threshold": 0.2, "strength": 4, "red": 60},
}


# Filters that change the size, which only some hosts can.
RESIZING = {"scale", "crop", "pad"}


def left_out(name, clip):
    """Whether a trial means nothing for a clip."""
    return name == "dither" and CLIPS[clip]["bits"] in (8, 32)


def png(path, color, bits, width, height, data):
    """Writes a PNG, tagged as sRGB."""
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[color]
    row = width * channels * bits // 8
    lines = b"".join(b"\0" + data[y * row : (y + 1) * row] for y in range(height))
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, 0)
    parts = [chunk(b"IHDR", head), chunk(b"sRGB", b"\0"), chunk(b"IDAT", zlib.compress(lines, 1)), chunk(b"IEND", b"")]
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def tiff(path, width, height, data):
    """Writes an uncompressed TIFF of float R, G and B."""
    tags = [
        (256, 3, 1, width), (257, 3, 1, height), (258, 3, 3, 8), (259, 3, 1, 1), (262, 3, 1, 2), (273, 4, 1, 20),
        (277, 3, 1, 3), (278, 3, 1, height), (279, 4, 1, len(data)), (339, 3, 3, 14),
    ]  # fmt: skip
    body = b"II*\0" + struct.pack("<I", 20 + len(data)) + struct.pack("<6H", 32, 32, 32, 3, 3, 3) + data
    directory = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + b"\0" * 4
    Path(path).write_bytes(body + directory)


def interleaved(planes, size):
    """Planes as samples side by side."""
    width = len(planes)
    out = bytearray(len(planes[0]) * width)
    for i, plane in enumerate(planes):
        for b in range(size):
            out[i * size + b :: width * size] = plane[b::size]
    return bytes(out)


class Clip:
    """Frames as planes in the command line's order (Y U V, G B R A), little endian, and where it reads them."""

    def __init__(self, name):
        self.name, spec = name, CLIPS[name]
        self.bits, self.sizes = spec["bits"], spec["planes"]
        self.bytes = {8: 1, 32: 4}.get(self.bits, 2)
        draw = random.Random(name)
        self.frames = [[self._plane(draw, *size) for size in self.sizes] for _ in range(FRAMES)]
        folder = WORK / name
        folder.mkdir(exist_ok=True)
        if "y4m" in spec:
            self.path = folder / "clip.y4m"
            head = f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F24:1 Ip A1:1 C{spec['y4m']}\n".encode()
            self.path.write_bytes(head + b"".join(b"FRAME\n" + b"".join(frame) for frame in self.frames))
            return
        self.path = folder / ("f.%d." + ("png" if "png" in spec else "tif"))
        for n, frame in enumerate(self.frames):
            # G B R A to R G B A; PNG is big endian.
            order = [frame[i] for i in {1: [0], 3: [2, 0, 1], 4: [2, 0, 1, 3]}[len(frame)]]
            packed = interleaved(order, self.bytes)
            file = str(self.path).replace("%d", str(n))
            if "tiff" in spec:
                tiff(file, WIDTH, HEIGHT, packed)
                continue
            if self.bytes == 2:
                swapped = bytearray(len(packed))
                swapped[0::2], swapped[1::2] = packed[1::2], packed[0::2]
                packed = bytes(swapped)
            png(file, spec["png"], self.bits, WIDTH, HEIGHT, packed)

    def _plane(self, draw, width, height):
        """A ramp with some noise: all brightnesses, and detail."""
        top = (1 << min(self.bits, 16)) - 1
        values = [
            min(max((x * 3 + y * 5) % 256 + draw.randrange(-12, 13), 0), 255) * top // 255
            for y in range(height)
            for x in range(width)
        ]
        if self.bits == 32:
            return struct.pack(f"<{len(values)}f", *(v / top for v in values))
        return bytes(values) if self.bytes == 1 else struct.pack(f"<{len(values)}H", *values)

    def hashes(self, chain, *flags):
        """What the command line's hash gives for each frame."""
        line = [CLI, "hash", self.path, "-q", *flags]
        if "y4m" not in CLIPS[self.name] and "--rate" not in flags:
            line += ["--rate", "24"]
        line += ["-f", chain] if chain else []
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, line))}\n{done.stderr}")
        return [row.split()[1] for row in done.stdout.splitlines()]


def chain_of(name, trial):
    """A filter and its settings as a chain."""

    def text(value):
        if isinstance(value, bool):
            return "1" if value else "0"
        return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)

    settings = ":".join(f"{id}='{text(value)}'" for id, value in trial.items())
    return f"{name}={settings}" if settings else name


def entries():
    """The names of all filters."""
    done = subprocess.run([CLI, "filters", "--json"], capture_output=True, text=True, check=True)
    return [entry["name"] for entry in json.loads(done.stdout)]


def trials():
    """Each filter of the catalog with something to try."""
    sprite = bytes((x * 5 + y * 3 + c * 40) % 256 for y in range(12) for x in range(16) for c in range(4))
    png(WORK / "sprite.png", 6, 8, 16, 12, sprite)
    # Hosts refuse FFmpeg's filters.
    return {name: TRIALS.get(name, {}) for name in entries() if name != "lavfi"}


def md5(planes):
    return hashlib.md5(b"".join(planes)).hexdigest()


def expected(clips, all_trials, resizing=False):
    """The command line's hashes for each clip and filter that it may be tried with."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = {
            (clip.name, name): pool.submit(clip.hashes, chain_of(name, trial))
            for clip in clips
            for name, trial in all_trials.items()
            if not left_out(name, clip.name) and (resizing or name not in RESIZING)
        }
        plain = {clip.name: [md5(frame) for frame in clip.frames] for clip in clips}
        found = {key: job.result() for key, job in jobs.items()}
    for (clip, name), hashes in found.items():
        assert hashes != plain[clip], f"{name} on {clip}: choose settings that are seen, in TRIALS"
    for clip in clips:
        assert clip.hashes(None) == plain[clip.name], f"{clip.name}: the clip is not what the command line reads"
    return found


class Checks:
    """Counts what was checked; goes on after a failure."""

    def __init__(self, title):
        self.title, self.passed, self.failed = title, 0, []

    def equal(self, what, got, wanted):
        self.true(f"{what}: got {got!r:.200}, wanted {wanted!r:.200}", got == wanted)

    def true(self, what, holds):
        if holds:
            self.passed += 1
        else:
            self.failed.append(what)
            print(f"FAILED {self.title}: {what}", flush=True)

    def raises(self, what, kind, parts, call):
        try:
            call()
        except kind as error:
            text = str(error)
            self.true(f"{what}: {parts} are not in {text!r}", all(part in text for part in parts))
        else:
            self.true(f"{what}: no error", False)

    def end(self):
        print(f"{self.title}: {self.passed} passed, {len(self.failed)} failed", flush=True)
        sys.stdout.flush()
        return 1 if self.failed else 0
