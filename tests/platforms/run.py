"""The golden values on other platforms: ./x test-platforms [full] [PLATFORM]... (see the handbook's page of guarantees).

Builds `golden.rs` and its standard library for each platform with Debian's Rust, runs it by an emulator, and compares
what it prints with tests/golden. The short form leaves out the slowest chains; the full form computes all, on more
platforms, runs the tests of videos with other versions of FFmpeg, and the program for Windows and for ARM64 beside that of
this system."""

import concurrent.futures
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/platforms"
sys.path.insert(0, str(ROOT / "filters/hosts/package"))
import windows  # noqa: E402 (what makes the archive for Windows)

OUT = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target/platforms")).resolve()
FULL = sys.argv[1:2] == ["full"]
CHOSEN = sys.argv[2:] if FULL else sys.argv[1:]
WINE = shutil.which("wine64") or "/usr/lib/wine/wine64"
NODE = ["node", "--no-warnings", str(HERE / "wasi.mjs")]
WASI = "/usr/lib/wasm32-wasi"
STATIC = "-Ctarget-feature=+crt-static"  # an emulator needs no libraries of the platform then
WASM = f"-Clink-self-contained=no -Lnative={WASI} -Clink-arg={WASI}/crt1-command.o"

# What the short form leaves out: these chains take an emulator long.
SLOW = [
    "fluid",
    "flock",
    "flock=preset=moths:size=400:goal='0=10,10;3=40,20':light=linear",
    "particles",
    "particles=preset=sparks:size=4",
    "particles=preset=sparks:size=4:light=linear",
    "particles=preset=confetti:amount=4:blend=multiply",
    "particles=preset=confetti:amount=4:wind='0=0;3=5'",
    "sand=preset=hourglass:size=24:grains=400:start=0.5",
    "particles=preset=hyperspace:seed=5:size=3",
    "dust=amount='0=0;3=200':seed=7",
    "dust=amount=60:size=40:hairs=0.4:blotches=0.2:light=0.5",
]
# Filters are compiled for a few seconds of running only.
LIGHT = "profile.dev.package.grainfield-filters.opt-level=1"
SILENT = 600  # seconds without a line after which an emulator hangs

# The tests of filters that compare the levels of a platform.
KERNELS = ["simd::", "noise::", "pixel::"]
ARM64 = "aarch64-unknown-linux-gnu"
PLAIN_ARM64 = ["qemu-aarch64-static", "-E", "GRAINFIELD_LEVEL=scalar"]

# Name, target, linker, flags, what runs it, whether the short form has it.
PLATFORMS = [
    ("ARM64", ARM64, "aarch64-linux-gnu-gcc", STATIC, ["qemu-aarch64-static"], True),
    ("plain-ARM64", ARM64, "aarch64-linux-gnu-gcc", STATIC, PLAIN_ARM64, False),
    ("wasm32", "wasm32-wasip1", "wasm-ld", WASM, NODE, True),
    ("Windows", "x86_64-pc-windows-gnu", "x86_64-w64-mingw32-gcc", "", [WINE], True),
    ("simd128", "wasm32-wasip1", "wasm-ld", f"{WASM} -Ctarget-feature=+simd128", NODE, False),
    ("i686", "i686-unknown-linux-gnu", "i686-linux-gnu-gcc", STATIC, [], False),
    ("s390x", "s390x-unknown-linux-gnu", "s390x-linux-gnu-gcc", STATIC, ["qemu-s390x-static"], False),
    ("Nehalem", "x86_64-unknown-linux-gnu", "cc", STATIC, ["qemu-x86_64-static", "-cpu", "Nehalem"], False),
    ("Haswell", "x86_64-unknown-linux-gnu", "cc", STATIC, ["qemu-x86_64-static", "-cpu", "Haswell"], False),
]

# Versions of FFmpeg, and the release of Debian that has each.
VERSIONS = {"FFmpeg-7.1": "trixie", "FFmpeg-9": "forky"}
PACKAGES = (
    "libavcodec-dev,libavfilter-dev,libavformat-dev,libavutil-dev,libswresample-dev,ffmpeg,"
    "clang,libclang-dev,gcc,libc6-dev,pkg-config,binutils,procps"
)
# Modules of tests/program that make videos with FFmpeg's programs and read them with its libraries.
VIDEO = ["ffmpeg", "containers", "losses", "tracks", "hold", "jobs", "encoding"]
# They damage fixed places of a clip, which every version of an encoder makes otherwise. Hits at other places show a fault
# that the program has with FFmpeg 5.1, too: damage may last beyond a key frame when a file is decoded from the start, so
# that frames of a range or a shard differ from those of a whole run.
VIDEO += ["--skip=damage_is_patched", "--skip=damaged_frames_of_a_video"]
# Mounts of a namespace end with the process, however it ends. The build of the bindings does not notice another FFmpeg.
INSIDE = """
root=$1; shift
for path in /dev /proc "$@"; do mkdir -p "$root$path"; mount --rbind "$path" "$root$path"; done
exec chroot "$root" sh -ec 'cd "$0"; cargo clean --offline -p ffmpeg-sys-next; ffmpeg -version | head -n 1
  exec cargo test --offline --locked --config "$LIGHT" --test program -- $VIDEO' "$1"
"""


def video(name):
    """Builds the program in a Debian with this FFmpeg, and runs the tests of videos there; returns what is wrong."""
    root = OUT / name
    if not (root / "made").is_file():
        shutil.rmtree(root, ignore_errors=True)
        options = ["--variant=apt", "--aptopt=Acquire::Check-Valid-Until \"false\"", f"--include={PACKAGES}"]
        subprocess.run(["mmdebstrap", *options, VERSIONS[name], root], check=True)
        (root / "made").touch()
    subprocess.run(["cargo", "fetch", "--locked"], cwd=ROOT, check=True)
    rust = subprocess.check_output(["rustc", "--print", "sysroot"], text=True).strip()
    home = os.environ.get("CARGO_HOME", str(pathlib.Path.home() / ".cargo"))
    env = {
        "PATH": f"{rust}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LIGHT": LIGHT,
        "VIDEO": " ".join(VIDEO),
        "CARGO_HOME": home,
        "CARGO_TARGET_DIR": str(OUT / "video"),
        "CARGO_INCREMENTAL": "0",
    }
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", INSIDE, "sh", root, ROOT, OUT, home, rust]
    run = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
    told = [line for line in run.stdout.splitlines() if line.startswith(("ffmpeg version", "test result"))]
    print(f"{name}: " + "; ".join(told), flush=True)
    if run.returncode == 0:
        return []
    sys.stderr.write(run.stdout)
    return [line for line in run.stdout.splitlines() if line.endswith("... FAILED")] or ["it does not build"]


def cargo(target, linker, flags, command, panic, runner=None, extra={}, **options):
    """Runs Cargo with Debian's Rust for a target."""
    name = target.upper().replace("-", "_")
    env = {
        **os.environ,
        "RUSTC": "/usr/bin/rustc",
        "RUSTC_BOOTSTRAP": "1",  # -Zbuild-std
        "CARGO_TARGET_DIR": str(OUT),
        "CARGO_INCREMENTAL": "0",
        f"CARGO_TARGET_{name}_LINKER": linker,
        f"CARGO_TARGET_{name}_RUSTFLAGS": flags,
        **({f"CARGO_TARGET_{name}_RUNNER": runner} if runner else {}),
        **extra,
    }
    # At level 1, LLVM 22 miscompiles three f32 that become f64 for s390x; at 0 and 2 it does not.
    light = LIGHT.replace("level=1", "level=2") if "s390x" in target else LIGHT
    std = ["--locked", "--target", target, f"-Zbuild-std=std,{panic}", "--config", light]
    command = ["cargo", command[0], *std, *command[1:]]
    return subprocess.run(command, cwd=ROOT, env=env, text=True, **options)


def kernels(target, linker, flags, emulator):
    """Runs the tests of the kernels, which compare the levels of the platform; returns what is wrong."""
    command = ["test", "-p", "grainfield-filters", "--lib", "--", *KERNELS]
    runner = " ".join(emulator)
    run = cargo(target, linker, flags, command, "panic_unwind", runner=runner, stdout=subprocess.PIPE)
    sys.stdout.write("".join(line for line in run.stdout.splitlines(True) if line.startswith("test result")))
    if run.returncode == 0:
        return []
    return [line for line in run.stdout.splitlines() if line.endswith("... FAILED")] or ["they do not build"]


def build(target, linker, flags):
    """Builds the program of golden values; returns its path."""
    panic = "panic_abort" if "wasm" in target else "panic_unwind"
    command = ["build", "-p", "grainfield-platforms"]
    made = cargo(target, linker, flags, command, panic, stderr=subprocess.PIPE)
    ours = "warning: `grainfield" in made.stderr
    if made.returncode or ours:
        sys.stderr.write(made.stderr)
        raise SystemExit(f"{target}: {'it has warnings' if ours else 'it does not build'}")
    return next(p for s in ("", ".exe", ".wasm") if (p := OUT / target / f"debug/golden{s}").is_file())


WINE_ENV = {"WINEPREFIX": str(OUT / "wine"), "WINEDEBUG": "-all", "GRAINFIELD_CACHE": "none", "LC_ALL": "C.UTF-8"}


def lines(command):
    """The lines of a program as it prints them; one that is silent for too long is killed."""
    env = {**os.environ, **WINE_ENV}
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, start_new_session=True)
    got = queue.Queue()
    reader = threading.Thread(target=lambda: [*map(got.put, run.stdout), got.put(None)], daemon=True)
    reader.start()
    try:
        while (line := got.get(timeout=SILENT)) is not None:
            yield line.rstrip("\n")
        if run.wait():
            raise RuntimeError(f"ends with status {run.returncode}")
    except queue.Empty:
        raise RuntimeError(f"hangs: silent for {SILENT} s, killed") from None
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)


def compare(command, golden):
    """The number of equal lines by file, and what is wrong."""
    limits = [] if FULL else [word for chain in SLOW for word in ("--without", chain)]
    equal, wrong, file, last = {}, [], None, "none"
    try:
        for line in lines([*command, *limits]):
            last = line
            if line.startswith("== "):
                file = line.split()[1]
                equal[file] = 0
            elif line in golden[file]:
                equal[file] += 1
            else:
                wrong.append(f"{file}: another hash: {line}")
    except (RuntimeError, OSError) as e:
        wrong.append(f"{e}; the last line is: {last}")
    for file, want in golden.items():
        if equal.get(file, 0) < len(want) and not wrong:
            wrong.append(f"{file}: {equal.get(file, 0)} lines of {len(want)}")
    return equal, wrong


CHAINS = ["", "noise=strength=8", "grain=preset=35mm", "noise=strength=4,vignette,dust"]
# What both programs do in a folder {0}, and the files that both read afterwards.
DONE = [
    (["render", "{0}clip ü.mkv", "{0}b.####.png", "-f", "grain", "--frames", "3-9"], "{0}b.*.png"),
    (["render", "{0}clip ü.mkv", "{0}c ü.mkv", "-f", "noise", "--codec", "ffv1"], "{0}c ü.mkv"),
    (["render", "{0}clip.mp4", "{0}d.mp4", "-f", "noise", "--codec", "libx264", "--lossless"], "{0}d.mp4"),
    (["frame", "{0}clip.mp4", "17", "{0}e.png", "-f", "grain"], "{0}e.png"),
]
SLOW_JOB = ["render", "pattern:bars:size=960x540:frames=300", "-f", "fluid,flock", "--codec", "ffv1"]


def ended(command, signals, output):
    """Sends signals to a program when it has written something; returns its exit status."""
    run = subprocess.Popen(command, env={**os.environ, **WINE_ENV}, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        late = time.monotonic() + SILENT
        while not any(path.stat().st_size > 1 << 18 for path in output.parent.rglob(output.name)):
            if run.poll() is not None or time.monotonic() > late:
                raise RuntimeError(f"{output.name}: nothing is written")
            time.sleep(0.2)
        run.send_signal(signals)
        return run.wait(SILENT)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)


def program_for_windows(place):
    """Unpacks the archive for Windows; returns the command of its program."""
    with zipfile.ZipFile(windows.package("dev")) as archive:
        archive.extractall(place)
    (folder,) = place.iterdir()
    shutil.copy(OUT / "bcryptprimitives.dll", folder)
    return [WINE, str(folder / "grainfield.exe")]


def program_for_arm64(place):
    """Builds the program for ARM64 with the FFmpeg of this Debian; returns its command. Packages are only unpacked."""
    root, kind = OUT / "arm64", "aarch64-linux-gnu"
    if not (root / "made").is_file():
        shutil.rmtree(root, ignore_errors=True)
        packages = ",".join(f"lib{name}-dev" for name in windows.LIBRARIES)
        subprocess.run(
            ["mmdebstrap", "--arch=arm64", "--variant=extract", f"--include={packages}", "bookworm", root], check=True
        )
        (root / "made").touch()
    # Some libraries are in a folder of their own, to which a link leads on an installed system.
    libraries = [root / "usr/lib" / kind, root / "lib" / kind, *(root / "usr/lib" / kind).glob("*/")]
    flags = " ".join(f"-Lnative={folder} -Clink-arg=-Wl,-rpath-link={folder}" for folder in libraries)
    env = {
        "PKG_CONFIG_ALLOW_CROSS": "1",
        "PKG_CONFIG_LIBDIR": f"{root}/usr/lib/{kind}/pkgconfig:{root}/usr/share/pkgconfig",
        "PKG_CONFIG_SYSROOT_DIR": str(root),
        "BINDGEN_EXTRA_CLANG_ARGS_aarch64_unknown_linux_gnu": f"--target={kind} --sysroot={root}",
    }
    command = ["build", "--bin", "grainfield"]
    cargo(ARM64, f"{kind}-gcc", flags, command, "panic_unwind", extra=env, check=True)
    shutil.copy(OUT / ARM64 / "debug/grainfield", place)
    found = "LD_LIBRARY_PATH=" + ":".join(map(str, libraries))
    return ["qemu-aarch64-static", "-L", str(root), "-E", found, str(place / "grainfield")]


def program(name):
    """Compares the program for a platform, which an emulator runs, with that of this system; returns what is wrong."""
    subprocess.run(["cargo", "build", "--locked", "--workspace", "--bin", "grainfield"], cwd=ROOT, check=True)
    native = str(pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/grainfield")
    place = OUT / f"for {name} ü"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    there = PROGRAMS[name](place)
    files = [place / "native", place / "there"]
    seen = f"Z:{files[1]}/".replace("/", "\\") if WINE in there else f"{files[1]}/"
    kinds = [([native], f"{files[0]}/"), (there, seen)]
    source = [native, "render", "pattern:zoneplate:size=320x180:frames=40", "-f", "noise=strength=3"]
    subprocess.run(["mkdir", *files], check=True)
    for name in ("clip.mp4", "clip ü.mkv"):
        subprocess.run([*source, "-q", files[0] / name], check=True)
        shutil.copy(files[0] / name, files[1])
    wrong = []

    def both(what, *arguments, end=None):
        got = []
        for command, at in kinds:
            try:
                got.append([*lines([*command, *(a.format(at) for a in arguments), "-q"])])
            except (RuntimeError, OSError) as e:
                got.append(str(e))
        if got[0] != got[1] or got[0] != end and isinstance(got[0], str):
            wrong.append(f"{what}: {got[1]}, and on this system {got[0]}")

    for chain in CHAINS:
        for clip in ("{0}clip.mp4", "{0}clip ü.mkv"):
            both(f"{clip} with '{chain}'", "render", clip, "hash:", *(["-f", chain] if chain else []))
    for arguments, made in DONE:
        both(" ".join(arguments), *arguments)
        both(f"reading {made}", "render", made, "hash:")
    both("overwriting", *DONE[1][0], end="ends with status 1")
    if WINE not in there:
        return wrong
    # Another system ends programs in another way. Ctrl-C keeps the frames that are finished; after a kill, the segments.
    try:
        status = ended([*there, *SLOW_JOB, kinds[1][1] + "f.mkv"], signal.SIGINT, files[1] / "f.partial.mkv")
        kept = [*lines([native, "render", f"{files[1]}/f.partial.mkv", "hash:", "-q"])]
        if status != 130 or not 0 < len(kept) < 300:
            wrong.append(f"Ctrl-C: status {status}, {len(kept)} frames are kept")
        job = [*SLOW_JOB, "{0}g.mkv", "--frames", "0-29", "--segments", "--segment-frames", "6"]
        ended([*there, *(a.format(kinds[1][1]) for a in job)], signal.SIGKILL, files[1] / "00000001.nut")
        both("after a kill", *job, "--resume")
        both("what is resumed", "render", "{0}g.mkv", "hash:")
        wrong += [f"{folder.name} is left" for folder in files[1].glob("*.segments")]
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as e:
        wrong.append(f"interrupted: {e}")
    return wrong


PROGRAMS = {"Windows-FFmpeg": program_for_windows, "ARM64-FFmpeg": program_for_arm64}


def main():
    known = [*[p[0] for p in PLATFORMS], *VERSIONS, *PROGRAMS]
    if not set(CHOSEN) <= set(known):
        raise SystemExit(f"usage: ./x test-platforms [full] [PLATFORM]..., of {', '.join(known)}")
    OUT.mkdir(parents=True, exist_ok=True)
    golden = {
        path.stem: {
            line
            for line in path.read_text().splitlines()
            if not line.startswith("#") and (FULL or line.split(" | ")[1] not in SLOW)
        }
        for path in (ROOT / "tests/golden").glob("*.txt")
    }
    platforms = [p for p in PLATFORMS if (p[0] in CHOSEN if CHOSEN else FULL or p[5])]
    # Older Wine lacks this library, which Rust's standard library asks for the seeds of hash tables.
    random = OUT / "bcryptprimitives.dll"
    subprocess.run(
        ["x86_64-w64-mingw32-gcc", "-shared", "-o", random, HERE / "bcryptprimitives.c", "-ladvapi32"], check=True
    )
    began, results = time.monotonic(), {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, target, linker, flags, emulator, _ in platforms:
            made = build(target, linker, flags)
            # Two platforms may share a target.
            copied = OUT / (name + made.suffix)
            shutil.copy(made, copied)
            print(f"{name}: built after {time.monotonic() - began:.0f} s", flush=True)
            results[name] = pool.submit(compare, [*emulator, str(copied)], golden)
        tested = {}
        if FULL and "ARM64" in results:
            tested["the tests of kernels on ARM64"] = kernels(*next(p[1:5] for p in PLATFORMS if p[0] == "ARM64"))
        tested |= {name: program(name) for name in PROGRAMS if (name in CHOSEN if CHOSEN else FULL)}
        videos = {name: video(name) for name in VERSIONS if (name in CHOSEN if CHOSEN else FULL)}
        results = {name: made.result() for name, made in results.items()}
    if results:
        print(f"\n{'equal lines':14}" + "".join(f"{name:>12}" for name in results))
        for file in sorted(golden):
            print(f"{file:14}" + "".join(f"{equal.get(file, 0):12}" for equal, _ in results.values()))
    found = [*[(name, wrong) for name, (_, wrong) in results.items()], *tested.items(), *videos.items()]
    wrong = [f"{name}: {w}" for name, list in found for w in list]
    print("\n" + "\n".join(wrong) if wrong else f"\nall right, after {time.monotonic() - began:.0f} s")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
