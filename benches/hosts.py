"""What noise costs in other programs, beside what is used there: `./x bench hosts`.

Milliseconds of processor time a frame of 1920 x 1080, of all threads, less what the host takes to hand over a frame that
nothing is done to. In turns, so that what else the machine does meets all; the least of the turns. Preparations are not
counted: AddGrain and vs-noise draw a store of noise once and then add parts of it.
ADDGRAIN=FILE: AddGrain's library, which no registry has; without it that row is left out.
"""

import os
import sys
import time

import albumentations
import grainfield as gf
import numpy as np
import vapoursynth as vs

core = vs.core
core.num_threads = 1
TURNS, FRAMES = 7, 30


def measured(jobs):
    """The least processor time of each job's frames."""
    least = {}
    for name, job in jobs.items():
        job(0)
    for _ in range(TURNS):
        for name, job in jobs.items():
            started = time.process_time()
            for n in range(FRAMES):
                job(n)
            cost = (time.process_time() - started) * 1000 / FRAMES
            least[name] = min(cost, least.get(name, cost))
    return least


def table(title, costs, nothing, pairs):
    print(f"\n{title}\n")
    for ours, theirs in pairs:
        a, b = costs[ours] - nothing, costs[theirs] - nothing
        # No filter makes a frame of this size in less.
        assert min(a, b) > 0.01, f"{ours}: {a:.4f} ms, {theirs}: {b:.4f} ms: not measured"
        print(f"| {ours} | {a:.2f} | {theirs} | {b:.2f} | {a / b:.2f} |")


def vapoursynth():
    addgrain = os.environ.get("ADDGRAIN")
    if addgrain:
        core.std.LoadPlugin(addgrain)
    core.std.LoadPlugin(sys.argv[1])
    for kind, bits in ((vs.YUV420P8, 8), (vs.YUV420P10, 10), (vs.YUV420P16, 16)):
        # One frame for all numbers, which the source keeps, so that no filter can work in place.
        source = core.std.BlankClip(None, 1920, 1080, kind, FRAMES + 1, 24, 1, color=[110 << (bits - 8)] * 3, keep=True)
        clips = {
            "nothing": source,
            "`grf.Noise`": core.grf.Noise(source, strength=4),
            "`grf.Noise`, Gaussian": core.grf.Noise(source, strength=4, distribution="gaussian"),
            "`grf.Grain`, 35mm": core.grf.Grain(source, preset="35mm"),
            "vs-noise": core.noise.Add(source, var=16, uvar=16, xsize=1, ysize=1),
            "vs-noise, size 2": core.noise.Add(source, var=16, uvar=16, xsize=2, ysize=2),
        }
        pairs = [
            ("`grf.Noise`", "vs-noise"),
            ("`grf.Noise`, Gaussian", "vs-noise"),
            ("`grf.Grain`, 35mm", "vs-noise, size 2"),
        ]
        if addgrain:
            clips["AddGrain"] = core.grain.Add(source, var=16, uvar=16)
            pairs += [(ours, "AddGrain") for ours in ("`grf.Noise`", "`grf.Noise`, Gaussian", "`grf.Grain`, 35mm")]
        for clip in clips.values():
            # Each round requests the same numbers: a cache would return the frames of the first round.
            core.std.SetVideoCache(clip, 0)
        jobs = {name: lambda n, clip=clip: clip.get_frame(n) and None for name, clip in clips.items()}
        costs = measured(jobs)
        table(f"VapourSynth {vs.__version__[0]}, YUV 4:2:0 of {bits} bits", costs, costs["nothing"], pairs)


def python():
    image = np.random.default_rng(1).integers(0, 256, (1080, 1920, 3), np.uint8)
    gauss = albumentations.GaussNoise(std_range=(8 / 255, 8 / 255), p=1)
    iso = albumentations.ISONoise(p=1)
    jobs = {
        "`gf.noise`": lambda n: gf.noise(image, strength=8, frame=n),
        "`gf.noise`, Gaussian": lambda n: gf.noise(image, strength=8, distribution="gaussian", frame=n),
        "`gf.grain`, 35mm": lambda n: gf.grain(image, preset="35mm", frame=n),
        "`GaussNoise`": lambda n: gauss(image=image),
        "`ISONoise`": lambda n: iso(image=image),
    }
    pairs = [
        ("`gf.noise`", "`GaussNoise`"),
        ("`gf.noise`, Gaussian", "`GaussNoise`"),
        ("`gf.grain`, 35mm", "`ISONoise`"),
    ]
    table(f"albumentations {albumentations.__version__}, RGB of 8 bits", measured(jobs), 0, pairs)


vapoursynth()
python()
