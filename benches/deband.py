"""`deband` beside other debanders, from 8 to 10 bits, by hand after `./x release`: docs/src/performance.md.

For each picture: CAMBI, an index of banding (0: none); PSNR in dB against the picture before it was rounded to 8 bits;
and how much of its grain or its lines is left, 1 being all. Needs FFmpeg, Python 3.12 with numpy, vapoursynth,
vapoursynth-cambi, vapoursynth-vszip (its f3kdb) and vs-placebo, and a Vulkan driver (Debian: mesa-vulkan-drivers). What
works in 16 bits is dithered to 10 by zimg (error diffusion).
"""

import subprocess
from pathlib import Path

import numpy as np
import vapoursynth as vs

W, H, FRAMES = 1920, 1080, 3
core, TARGET = vs.core, Path(__file__).resolve().parents[1] / "target"
X, Y = np.meshgrid(np.arange(W, dtype=float), np.arange(H, dtype=float))


def pictures():
    """Name, shading and detail, in codes of 8 bits."""
    yield "shadows", 17 + 11 * np.exp(-(((X - 600) / 700) ** 2 + ((Y - 500) / 420) ** 2)) + 3 * Y / H, 0 * X
    grain = np.random.default_rng(7).standard_normal((H, W))
    grain = (grain + np.roll(grain, 1, 0) + np.roll(grain, 1, 1) + np.roll(grain, 1, (0, 1))) * 0.75
    yield "grain of 1.5", 115 - 55 * (Y / H) ** 0.8 - 6 * X / W, grain
    away = [abs(X - 80 - 70 * k - 30 * np.sin(Y / 80 + k / 5)) for k in range(25)]
    lines = sum(-np.clip(1.3 - far, 0, 1) * (1 + k / 4) for k, far in enumerate(away))
    yield "lines of 1 to 7", 110 + 35 * Y / H + 12 * X / W, lines


def run(*words):
    out = TARGET / "deband-out.y4m"
    subprocess.run([*words, out], check=True, stderr=subprocess.DEVNULL)
    data = out.read_bytes()
    frames = np.frombuffer(data[data.index(b"\n") + 1 :], np.uint8).reshape(FRAMES, -1)[:, len("FRAME\n") :]
    return np.ascontiguousarray(frames).view("<u2")[:, : W * H].reshape(FRAMES, H, W)


def clip(frames, bits):
    blank = core.std.BlankClip(None, W, H, core.query_video_format(vs.GRAY, vs.INTEGER, bits).id, FRAMES)

    def put(n, f):
        made = f.copy()
        np.asarray(made[0])[:] = frames[n]
        return made

    return blank.std.ModifyFrame(blank, put)


def in_10(made):
    made = made.resize.Point(format=vs.GRAY10, dither_type="error_diffusion")
    return [np.asarray(f[0]).copy() for f in made.frames()]


def rivals(source, codes):
    deep = clip([codes << 8] * FRAMES, 16)
    yield "8 bits", [codes << 2] * FRAMES
    for chain in "deband", "deband=iterations=1", "deband=iterations=4", "deband=threshold=1":
        start = TARGET / "release/grainfield", "render", source, "-y", "--pix-fmt", "yuv420p10le"
        yield f"Grainfield, `{chain}`", run(*start, "-f", chain)
    for chain in "deband", "deband=1thr=.006", "deband=b=0:1thr=.006":
        start = "ffmpeg", "-nostdin", "-y", "-i", source, "-strict", "-1", "-vf"
        yield f"FFmpeg, `{chain}`", in_10(clip(run(*start, f"format=yuv420p16le,{chain}"), 16))
    for given in {}, {"thr": 1.5}, {"thr": 1.5, "sample_mode": 5}, {"grain": [1, 1]}:
        yield f"f3kdb, {given}", in_10(deep.vszip.Deband(**given))
    for given in {}, {"grain": 0}, {"grain": 0, "iterations": 2, "threshold": 4}:
        yield f"libplacebo, {given}", in_10(deep.placebo.Deband(planes=1, **given))


for name, shading, detail in pictures():
    codes = np.clip(np.floor(shading + detail + 0.5), 16, 235).astype("<u2")
    source = TARGET / "deband-in.y4m"
    frame = b"FRAME\n" + codes.astype("u1").tobytes() + bytes([128]) * (W * H // 2)
    source.write_bytes(b"YUV4MPEG2 W1920 H1080 F25:1 C420mpeg2\n" + frame * FRAMES)
    for rival, frames in rivals(source, codes):
        cambi = np.mean([f.props["CAMBI"] for f in clip(frames, 10).cambi.Cambi().frames()])
        error = np.mean([(f / 4 - shading - detail) ** 2 for f in frames])
        left = np.mean([((f / 4 - shading) * detail).sum() for f in frames]) / max((detail**2).sum(), 1)
        print(f"{name:16} {rival:60} {cambi:6.2f} {10 * np.log10(255**2 / error):6.2f} {left:6.3f}", flush=True)
