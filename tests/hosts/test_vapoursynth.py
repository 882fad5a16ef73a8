"""VapourSynth with the plugin: every filter equals the command line, in any order, and what is wrong is told."""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import vapoursynth as vs
from common import BUILT, FRAMES, FULL, HEIGHT, WIDTH, WORK, Checks, Clip, chain_of, expected, md5, trials

core = vs.core
core.std.LoadPlugin(str(BUILT / "libgrainfield_vapoursynth.so"))
grf = core.grf
check = Checks(f"VapourSynth {vs.__version__[0]}")

FORMATS = {
    "yuv420p8": (vs.YUV420P8, {"_ChromaLocation": 0}),
    "yuv422p10": (vs.YUV422P10, {}),
    "yuv444p12": (vs.YUV444P12, {}),
    "gray16": (vs.GRAY16, {"_Range": 1, "_Transfer": 13, "_Primaries": 1}),
    "rgb8": (vs.RGB24, {"_Range": 1, "_Transfer": 13, "_Primaries": 1, "_Matrix": 0}),
    "rgbf32": (vs.RGBS, {"_Range": 1, "_Transfer": 8, "_Matrix": 0}),
}
NAMES = list(FORMATS) if FULL else ["yuv420p8", "rgb8"]
RGB_ORDER = [2, 0, 1]


def order(clip):
    """Our plane for each of the host's."""
    return RGB_ORDER if clip.name.startswith("rgb") else list(range(len(clip.sizes)))


def node(clip, kind=None, planes=None):
    """A clip's frames in the host, or those planes of them."""
    known, props = FORMATS.get(clip.name, FORMATS["rgb8"])
    kind, planes = kind or known, planes or order(clip)
    blank = core.std.BlankClip(None, WIDTH, HEIGHT, kind, FRAMES, 24, 1)
    # BlankClip says of some formats what our files do not.
    blank = core.std.RemoveFrameProps(blank)

    def fill(n, f):
        made = f.copy()
        for plane, p in enumerate(planes):
            data, (width, height) = clip.frames[n][p], clip.sizes[p]
            stride, row = made.get_stride(plane), width * clip.bytes
            start = made.get_write_ptr(plane).value
            for y in range(height):
                ctypes.memmove(start + y * stride, data[y * row : (y + 1) * row], row)
        for key, value in props.items():
            made.props[key] = value
        return made

    return core.std.ModifyFrame(blank, blank, fill)


def digest(frame):
    """The sum as the command line has it."""
    rgb = frame.format.color_family == vs.RGB
    planes = [1, 2, 0] if rgb else range(frame.format.num_planes)
    data = []
    for plane in planes:
        stride, start = frame.get_stride(plane), frame.get_read_ptr(plane).value
        row = (frame.width >> (frame.format.subsampling_w if plane and not rgb else 0)) * frame.format.bytes_per_sample
        rows = frame.height >> (frame.format.subsampling_h if plane and not rgb else 0)
        data.append(b"".join(ctypes.string_at(start + y * stride, row) for y in range(rows)))
    return md5(data)


def function(name):
    return "".join(word.capitalize() for word in name.replace("_", "-").split("-"))


def arguments(trial):
    host = lambda value: str(value) if isinstance(value, Path) or isinstance(value, int) and value > 1 << 62 else value
    return {id.replace("-", "_"): host(value) for id, value in trial.items()}


def frames(clip):
    return [digest(clip.get_frame(n)) for n in range(clip.num_frames)]


def all_equal(clips, all_trials, wanted):
    for clip in clips:
        source = node(clip)
        for name, trial in all_trials.items():
            if (clip.name, name) not in wanted:
                continue
            made = getattr(grf, function(name))(source, **arguments(trial))
            backwards = [digest(made.get_frame(n)) for n in reversed(range(FRAMES))][::-1]
            check.equal(f"{name} on {clip.name}, last frame first", backwards, wanted[clip.name, name])
            # All at the same time, and through the function that takes chains.
            chain = grf.Chain(source, chain_of(name, trial))
            ready = [chain.get_frame_async(n) for n in range(FRAMES)]
            check.equal(f"{name} on {clip.name}, on threads", [digest(f.result()) for f in ready], wanted[clip.name, name])


def series(clip):
    source = node(clip)
    twice = grf.Noise(grf.Noise(source, strength=20), strength=20)
    check.equal("two calls are one chain", frames(twice), clip.hashes("noise=strength=20,noise=strength=20"))
    chained = grf.Chain(source, "noise=strength=20,grain", recipe_seed="7")
    mixed = grf.Grain(grf.Noise(chained, strength=20, recipe_seed="7"), recipe_seed="7")
    wanted = clip.hashes("recipe=seed=7,noise=strength=20,grain,noise=strength=20,grain")
    check.equal("calls of different filters are one chain", frames(mixed), wanted)
    cut = core.std.Trim(grf.Noise(source, strength=20), 2, 3)
    check.equal("an offset is the frame's own number", frames(grf.Noise(core.std.Trim(source, 2), offset=2, strength=9)), clip.hashes("noise=strength=9")[2:])
    check.equal("trimmed after", frames(cut), clip.hashes("noise=strength=20")[2:4])
    last = grf.Fade(source, amount="0=0;-1=1")
    check.equal("keys count from the end", frames(last), clip.hashes("fade=amount='0=0;-1=1'"))
    listed = grf.Noise(source, strength=[1, 4, 9, 16, 25])
    check.equal("a number for each frame", frames(listed), clip.hashes("noise=strength='0=1;1=4;2=9;3=16;4=25'"))
    recipe = WORK / "look.toml"
    recipe.write_text('seed = 3\n[[filter]]\nname = "noise"\nstrength = 14\n')
    made = grf.Chain(source, recipe=str(recipe))
    check.equal("a recipe's file", frames(made), clip.hashes("recipe=seed=3,noise=strength=14"))


def interlaced(clip):
    source = core.std.SetFrameProps(node(clip), _FieldBased=2)
    field = WORK / "tff.y4m"
    field.write_bytes(clip.path.read_bytes().replace(b" Ip ", b" It ", 1))
    path, clip.path = clip.path, field
    check.equal("top field first", frames(grf.Grain(source, preset="heavy")), clip.hashes("grain=preset=heavy"))
    clip.path = path


def alpha(rgba):
    color, mask = node(rgba), node(rgba, vs.GRAY8, [3])
    made = grf.Transform(color, alpha=mask, rotate=30, zoom=0.8)
    got = []
    for frame in made.frames():
        rgb = [bytes(frame[p]) for p in [1, 2, 0]]
        got.append(md5([*rgb, bytes(frame.props["_Alpha"][0])]))
    check.equal("alpha goes along", got, rgba.hashes("transform=rotate=30:zoom=0.8"))
    check.raises("alpha of another size", vs.Error, ["Noise: alpha"], lambda: grf.Noise(color, alpha=core.std.Crop(mask, 2)))


def second_clips(clip, others):
    """Clips as second inputs make what files of the same pictures make, whichever frames are asked for first."""
    source = node(clip)

    def equal(what, made, chain):
        wanted = clip.hashes(chain)
        check.true(f"{what}: choose settings that are seen", wanted != [md5(frame) for frame in clip.frames])
        check.equal(f"{what}, last frame first", [digest(made.get_frame(n)) for n in reversed(range(FRAMES))][::-1], wanted)
        ready = [made.get_frame_async(n) for n in range(FRAMES)] * 3
        check.equal(f"{what}, on threads", [digest(f.result()) for f in ready], wanted * 3)

    for other in others:
        second = node(other)
        placed = {"blend": "screen", "size": 0.5, "speed": 0.5, "opacity": "0=1;4=0.2"}
        equal(f"{other.name} over", grf.Overlay(source, file="clip:0", clips=second, **placed), chain_of("overlay", {"file": other.path, **placed}))
        equal(f"{other.name} as mask", grf.Invert(source, mask="clip:0", mask_feather=9, clips=second), f"invert=mask='{other.path}':mask_feather=9")
    first, last = others[0], others[-1]
    both = "overlay=file='{}':size=0.4:rotate=20,blur=sigma=9,overlay=file='{}':blend=add:opacity=0.4:enable=1-3:mask='{}'"
    chain = grf.Chain(source, both.format("clip:1", "clip:0", "clip:1"), clips=[node(first), node(last)])
    equal("two clips, one of them twice", chain, both.format(last.path, first.path, last.path))
    fluid = "fluid=particles=400,overlay=file='{}':blend=multiply"
    equal("after a simulation", grf.Chain(source, fluid.format("clip:0"), clips=[node(last)]), fluid.format(last.path))
    recipe = WORK / "clips.toml"
    recipe.write_text('[[filter]]\nname = "overlay"\nfile = "clip:0"\nsize = 0.5\n')
    equal("in a recipe's file", grf.Chain(source, recipe=str(recipe), clips=node(last)), f"overlay=file='{last.path}':size=0.5")

    # Shorter, slower, and with other times.
    short = WORK / "short.y4m"
    frame = len(first.path.read_bytes().split(b"\n", 1)[1]) // FRAMES
    head, body = first.path.read_bytes().split(b"\n", 1)
    short.write_bytes(head.replace(b"F24:1", b"F10:1") + b"\n" + body[: 3 * frame])
    slow = core.std.AssumeFPS(core.std.Trim(node(first), 0, 2), fpsnum=10)
    for end, more in [("hold", {"start": 0.05}), ("loop", {"skip": 0.21}), ("stop", {"speed": 3})]:
        made = grf.Overlay(source, file="clip:0", clips=slow, end=end, size=0.5, **more)
        equal(f"another length and rate, end={end}", made, chain_of("overlay", {"file": short, "end": end, "size": 0.5, **more}))
    still = WORK / "still.y4m"
    still.write_bytes(head + b"\n" + body[:frame])
    equal("a still as mask", grf.Invert(source, mask="clip:0", clips=node(first)[0]), f"invert=mask='{still}'")

    # The picture before a change.
    changed = core.std.RemoveFrameProps(grf.Levels(source, black=0.2, enable="1-3", mask="ellipse"), "GrainfieldFilters")
    path, clip.path = clip.path, WORK / "changed.y4m"
    raw = [bytes(f[p]) for f in changed.frames() for p in range(3)]
    clip.path.write_bytes(path.read_bytes().split(b"\n", 1)[0] + b"\n" + b"".join(b"FRAME\n" + b"".join(raw[3 * n : 3 * n + 3]) for n in range(FRAMES)))
    equal("where a clip differs", grf.Chain(changed, "grain=where=clip:0", clips=[source]), f"grain=where='{path}'")
    fields = WORK / "fields.y4m"
    fields.write_bytes(path.read_bytes().replace(b" Ip ", b" It ", 1))
    clip.path = fields
    interlaced = core.std.SetFrameProps(source, _FieldBased=2)
    equal("both fields", grf.Overlay(interlaced, file="clip:0", clips=slow, size=0.5), chain_of("overlay", {"file": short, "size": 0.5}))
    clip.path = path

    # Tags are those of each frame, and the alpha is its property.
    half = core.std.SetFrameProps(source, _Range=1, _Matrix=1)
    mixed = core.std.Splice([source[:2], half[2:]])
    got = frames(grf.Overlay(source, file="clip:0", clips=mixed, size=0.5, opacity=0.5))
    parts = [frames(grf.Overlay(source, file="clip:0", clips=one, size=0.5, opacity=0.5)) for one in (source, half)]
    check.equal("tags that change", got, parts[0][:2] + parts[1][2:])
    check.true("tags that change are seen", parts[0][2:] != parts[1][2:])
    rgba = Clip("rgba8")
    seen = core.std.ClipToProp(node(rgba), node(rgba, vs.GRAY8, [3]), prop="_Alpha")
    equal("with alpha", grf.Overlay(source, file="clip:0", clips=seen, size=0.7), chain_of("overlay", {"file": rgba.path, "size": 0.7}))

    varying = core.std.Splice([source, core.std.BlankClip(source, 32, 32)], mismatch=True)
    torn = core.std.ClipToProp(source, core.std.BlankClip(source, 32, 32, format=vs.GRAY8), prop="_Alpha")
    over = lambda second, name="clip:0": grf.Overlay(source, file=name, clips=second)
    said = [
        ("a clip that is not given", ["clip:1", "VapourSynth"], lambda: grf.Chain(source, "overlay=file=clip:0:mask=clip:1", clips=[source])),
        ("no clips", ["clip:0", "clips=[b]"], lambda: grf.Overlay(source, file="clip:0")),
        ("a clip that is not used", ["clips: ", "clip:1"], lambda: over([source, source])),
        ("a clip where a file is needed", ["clips: ", "clip:0"], lambda: grf.Lut(source, file="clip:0", clips=[source])),
        ("a clip without a rate", ["clip:0: ", "AssumeFPS"], lambda: over(core.std.BlankClip(source, fpsnum=0, fpsden=1))),
        ("a clip of many sizes", ["clip:0: ", "size varies"], lambda: over(varying)),
        ("a clip with half floats", ["clip:1: ", "16-bit float"], lambda: over([source, core.std.BlankClip(format=vs.RGBH)])),
        ("a clip with another clip's alpha", ["clip:0: ", "_Alpha", "ClipToProp"], lambda: over(torn)),
        ("a clip of another size before a change", ["where: "], lambda: grf.Grain(source, where="clip:0", clips=core.std.BlankClip(source, 32, 32))),
    ]
    for what, parts, call in said:
        check.raises(what, vs.Error, parts, call)
    fails = core.std.FrameEval(source, lambda n: source if n < 2 else 1 // 0)
    check.raises("a frame of a clip that fails", vs.Error, ["division"], lambda: over(fails).get_frame(3))
    check.equal("its other frames", frames(over(fails)[:2]), frames(over(source)[:2]))


def errors(clip):
    source = node(clip)
    said = [
        ("a number out of range", ["Noise: ", "-1 is not from 0 to 255", "^"], lambda: grf.Noise(source, strength=-1)),
        ("a word", ["'35mm'"], lambda: grf.Grain(source, preset="36mm")),
        ("no text", ["Chain: give a chain"], lambda: grf.Chain(source)),
        ("no filter", ["did you mean 'noise'?"], lambda: grf.Chain(source, "noize")),
        ("no file", ["/nowhere/look.toml"], lambda: grf.Chain(source, recipe="/nowhere/look.toml")),
        ("no image", ["/nowhere.png"], lambda: grf.Sprites(source, image="/nowhere.png")),
        ("a seed", ["recipe_seed: 'x'"], lambda: grf.Noise(source, recipe_seed="x")),
        ("half float", ["16-bit float", "resize"], lambda: grf.Noise(core.std.BlankClip(format=vs.RGBH))),
        ("32-bit integers", ["32 bits"], lambda: grf.Noise(core.std.BlankClip(format=vs.GRAY32))),
        ("no rate", ["AssumeFPS"], lambda: grf.Noise(core.std.BlankClip(fpsnum=0, fpsden=1))),
        ("a plane", ["planes"], lambda: grf.Noise(core.std.BlankClip(format=vs.GRAY8), planes="a")),
        ("a frame of the source", ["frames 0 to 4"], lambda: grf.Fluid(source, obstacle_frame=99)),
    ]
    for what, parts, call in said:
        check.raises(what, vs.Error, parts, call)
    check.raises("an argument", vs.Error, ["strenght"], lambda: grf.Noise(source, strenght=3))
    solid = clip.hashes("fluid=particles=400:obstacle_frame=2")
    check.equal("a frame of the source", frames(grf.Fluid(source, particles=400, obstacle_frame=2)), solid)
    tagged = core.std.SetFrameProps(grf.Noise(source), GrainfieldFilters="\x01 not ours")
    check.equal("a property of somebody else's", frames(grf.Noise(tagged, strength=0)), frames(grf.Noise(source)))


def script():
    """A script in a process of its own: vspipe where there is one, and an end without a crash."""
    text = (
        "import vapoursynth as vs\ncore = vs.core\n"
        f"core.std.LoadPlugin({str(BUILT / 'libgrainfield_vapoursynth.so')!r})\n"
        "clip = core.std.BlankClip(None, 64, 48, vs.YUV420P8, 30, 24, 1)\n"
        "clip = core.grf.Fluid(core.grf.Grain(clip, preset='35mm'), particles=500)\nclip.set_output()\n"
    )
    file = WORK / "script.vpy"
    file.write_text(text)
    asks = "for f in clip.frames(): pass\nprint('done')\n"
    done = subprocess.run([sys.executable, "-c", text + asks], capture_output=True, text=True)
    check.equal(f"a process ends well: {done.stderr}", (done.returncode, done.stdout), (0, "done\n"))
    vspipe = Path(sys.executable).with_name("vspipe")
    if vspipe.exists():
        # It asks once where Python is, and keeps that in the home folder.
        home = {**os.environ, "HOME": str(WORK)}
        subprocess.run([vspipe.with_name("vapoursynth"), "config"], capture_output=True, env=home)
        done = subprocess.run([vspipe, file, "--"], capture_output=True, text=True, env=home)
        check.equal(f"vspipe ends well: {done.stderr}", done.returncode, 0)
        check.true(f"vspipe: {done.stderr}", "Output 30 frames" in done.stderr)


def main():
    all_trials = trials()
    clips = [Clip(name) for name in NAMES]
    started = time.time()
    wanted = expected(clips, all_trials, resizing=True)
    print(f"the command line's hashes: {time.time() - started:.0f} s", flush=True)
    all_equal(clips, all_trials, wanted)
    series(clips[0])
    interlaced(clips[0])
    second_clips(clips[0], [Clip(name) for name in FORMATS])
    alpha(Clip("rgba8"))
    errors(clips[0])
    script()
    return check.end()


sys.exit(main())
