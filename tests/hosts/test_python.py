"""The Python package: every filter equals the command line, on arrays of all kinds, in place, in other processes."""

import inspect
import multiprocessing
import pickle
import subprocess
import sys
import threading
from fractions import Fraction

import grainfield as gf
import numpy as np
from grainfield._chain import _FILES
from common import FRAMES, FULL, HEIGHT, WIDTH, WORK, Checks, Clip, chain_of, expected, interleaved, md5, trials

check = Checks(f"Python {sys.version.split()[0]}, NumPy {np.__version__}")
NAMES = ["gray8", "gray16", "rgb8", "rgb16", "rgba8", "rgbf32"] if FULL else ["rgb8", "rgbf32"]
TYPES = {8: np.uint8, 16: np.uint16, 32: np.float32}
ORDER = {1: [0], 3: [2, 0, 1], 4: [2, 0, 1, 3]}


def arrays(clip):
    """A clip as N x H x W x C."""
    order = ORDER[len(clip.sizes)]
    packed = [interleaved([frame[i] for i in order], clip.bytes) for frame in clip.frames]
    whole = np.frombuffer(b"".join(packed), TYPES[clip.bits])
    return whole.reshape(FRAMES, HEIGHT, WIDTH, len(order)).copy()


def digests(frames):
    order = ORDER[frames.shape[-1]]
    planar = lambda frame: [frame[..., order.index(p)].tobytes() for p in range(len(order))]
    return [md5(planar(frame)) for frame in frames]


def options(clip):
    return {"transfer": "linear"} if clip.bits == 32 else {}


def all_equal(clips, all_trials, wanted):
    for clip in clips:
        source = arrays(clip)
        for name, trial in all_trials.items():
            if (clip.name, name) not in wanted:
                continue
            call = getattr(gf, name.replace("-", "_"))
            given = {id.replace("-", "_"): value for id, value in trial.items()}
            made = call(source, **given, **options(clip))
            check.equal(f"{name} on {clip.name}", digests(made), wanted[clip.name, name])
            chain = gf.Chain(chain_of(name, trial), **options(clip))
            backwards = [chain(source[n], frame=n) for n in reversed(range(FRAMES))][::-1]
            check.equal(f"{name} on {clip.name}, last frame first", digests(np.stack(backwards)), wanted[clip.name, name])
        check.equal(f"{clip.name} is as it was", digests(source), digests(arrays(clip)))


class Tensor:
    """A tensor of another library's: DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class View(Tensor):
    """As torch: it also shows its memory."""

    def numpy(self):
        return self.array


def places(clip):
    source = arrays(clip)
    wanted = clip.hashes("noise=strength=12")
    noise = gf.Chain("noise=strength=12")
    own = source.copy()
    check.true("in place", noise.video(own, out=own) is own and digests(own) == wanted)
    other = np.zeros_like(source)
    check.true("into another", noise.video(source, out=other) is other and digests(other) == wanted)
    wide = np.zeros((FRAMES, HEIGHT, WIDTH * 2, 3), np.uint8)
    noise.video(source, out=wide[:, :, ::2])
    check.true("into a view with gaps", digests(wide[:, :, ::2].copy()) == wanted and not wide[:, :, 1::2].any())
    flipped = np.ascontiguousarray(source[:, ::-1])[:, ::-1]
    check.equal("of a view that is upside down", digests(noise.video(flipped)), wanted)
    shifted = np.concatenate([source, source[:1]])
    noise.video(shifted[:FRAMES], out=shifted[1:])
    check.equal("into a view that overlaps", digests(shifted[1:]), wanted)
    check.equal("DLPack", digests(noise.video(Tensor(source))), wanted)
    tensor = View(source.copy())
    check.true("DLPack, in place", noise.video(tensor, out=tensor) is tensor and digests(tensor.array) == wanted)
    flat = source[..., 0].copy()
    gray = noise(flat[2], frame=2)
    check.true("an image without channels", gray.shape == (HEIGHT, WIDTH) and (gray == noise.video(flat)[2]).all())
    check.equal("one image", md5([noise(source[3], frame=3)[..., c].tobytes() for c in (1, 2, 0)]), wanted[3])
    check.true("nothing", noise.video(source[:0]).shape == (0, HEIGHT, WIDTH, 3))
    check.equal("from a start", digests(noise.video(source[2:], start=2)), wanted[2:])
    seeded = gf.Chain("noise", seed=5)
    check.equal("a seed", digests(seeded.video(source)), clip.hashes("noise", "--seed", "5"))
    moving = gf.Chain("particles=amount=20:size=20", rate=Fraction(24000, 1001))
    check.equal("a rate", digests(moving.video(source)), clip.hashes("particles=amount=20:size=20", "--rate", "24000/1001"))
    top = gf.Chain("grain", fields="top").video(source)
    check.equal("fields", digests(top), clip.hashes("grain", "--fields", "field"))
    ten = gf.Chain("noise", sample_bits=10).video(np.full((1, 8, 8, 3), 1023, np.uint16))
    check.true("10 bits", ten.max() <= 1023)
    curve = gf.noise(source, strength=np.arange(1, FRAMES + 1))
    check.equal("a number for each frame", digests(curve), clip.hashes("noise=strength='0=1;1=2;2=3;3=4;4=5'"))
    dithered = gf.dither(arrays(Clip("rgb16")), bits=8)
    check.true("fewer bits", dithered.dtype == np.uint8)


def job(chain, source, queue):
    queue.put(digests(chain.video(source)))


def processes(clip):
    source = arrays(clip)
    chain = gf.Chain("noise=strength=12")
    wanted = digests(chain.video(source))
    check.equal("pickle", digests(pickle.loads(pickle.dumps(chain)).video(source)), wanted)
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=job, args=(chain, source, queue))
        process.start()
        check.equal(f"after a {method}", queue.get(timeout=120), wanted)
        process.join()
        check.equal(f"a {method} ends well", process.exitcode, 0)
    results = [None] * 8

    def thread(i):
        results[i] = digests(chain.video(source, start=0))

    threads = [threading.Thread(target=thread, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    check.equal("eight threads", results, [wanted] * 8)
    # A large batch leaves the interpreter to others.
    large = np.zeros((64, 256, 256, 3), np.uint8)
    turns, done = 0, threading.Event()
    worker = threading.Thread(target=lambda: (gf.grain(large, preset="16mm"), done.set()))
    worker.start()
    while not done.wait(0.001):
        turns += 1
    check.true(f"the interpreter is free: {turns} turns", turns > 5)


def errors():
    image = np.zeros((8, 8, 3), np.uint8)
    said = [
        ("a number out of range", ["-1 is not from 0 to 255", "^"], lambda: gf.noise(image, strength=-1)),
        ("a word", ["'35mm'"], lambda: gf.grain(image, preset="36mm")),
        ("no filter", ["did you mean 'noise'?"], lambda: gf.Chain("noize")),
        ("nothing", ["a chain"], lambda: gf.Chain()),
        ("no file", ["/nowhere/look.toml"], lambda: gf.Chain(recipe="/nowhere/look.toml")),
        ("a type", ["int64", "uint8"], lambda: gf.noise(image.astype(np.int64))),
        ("big endian", ["uint16"], lambda: gf.noise(image.astype(">u2"))),
        ("channels", ["5 channels"], lambda: gf.noise(np.zeros((8, 8, 5), np.uint8))),
        ("dimensions", ["dimensions"], lambda: gf.noise(np.zeros(8, np.uint8))),
        ("a shape of out", ["out has the shape"], lambda: gf.noise(image, out=image[:4])),
        ("a type of out", ["out is of type"], lambda: gf.noise(image, out=image.astype(np.uint16))),
        ("out that is read only", ["written"], lambda: gf.noise(image, out=np.broadcast_to(image, (8, 8, 3)))),
        ("a rate", ["rate"], lambda: gf.noise(image, rate=0)),
        ("a transfer", ["transfer"], lambda: gf.noise(image, transfer="x")),
        ("a frame of the source", ["image"], lambda: gf.Chain("fluid=obstacle_frame=2")),
        ("a number of a frame", ["2^53"], lambda: gf.noise(image, frame=1 << 60)),
    ]
    for what, parts, call in said:
        check.raises(what, gf.Error, parts, call)
    check.raises("an argument", TypeError, ["strenght"], lambda: gf.noise(image, strenght=3))
    check.true("an error is a ValueError", issubclass(gf.Error, ValueError))


def described(all_trials):
    for name in all_trials:
        call = getattr(gf, name.replace("-", "_"))
        check.true(f"{name} has a page", len(inspect.getdoc(call) or "") > 200)
        files = {id for id, p in inspect.signature(call).parameters.items() if "Path" in str(p.annotation)}
        check.true(f"{name}: files are read again: {files}", files <= set(_FILES))
    check.true("types", "Literal" in str(inspect.signature(gf.grain).parameters["preset"].annotation))
    if FULL:
        line = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(WORK / "mypy"), "-p", "grainfield"]
        done = subprocess.run(line, capture_output=True, text=True)
        check.equal(f"mypy: {done.stdout}{done.stderr}", done.returncode, 0)


def main():
    all_trials = trials()
    clips = [Clip(name) for name in NAMES]
    wanted = expected(clips, all_trials)
    all_equal(clips, all_trials, wanted)
    rgb = next(clip for clip in clips if clip.name == "rgb8")
    places(rgb)
    processes(rgb)
    errors()
    described(all_trials)
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
