"""The shells for other programs, in these programs: what each makes equals what the command line makes. See `./x test-hosts`.

Virtual environments in target/hosts are made once for each list of packages. The short form does without what cannot be
installed, and says so; with "full" that is a failure.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOSTS = ROOT / "target/hosts"
BUILT = ROOT / "target/debug"
NUMPY = "numpy>=2,<3"


def say(text):
    print(f"\n== {text}", flush=True)


def run(*command, **environment):
    """Runs a command in the root folder; a failure ends this program."""
    done = subprocess.run([str(part) for part in command], cwd=ROOT, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(done.returncode)


def find_python(minor):
    """The system's Python, else the oldest of at least this minor version, that can make virtual environments."""
    names = ["python3", *(f"python3.{n}" for n in range(11, 15))]
    names += sorted(str(path) for path in Path.home().glob(".pyenv/versions/3.*/bin/python3"))
    for name in filter(shutil.which, names):
        check = f"import sys, venv, ensurepip; sys.exit(sys.version_info < (3, {minor}))"
        if subprocess.run([name, "-c", check], stderr=subprocess.DEVNULL).returncode == 0:
            return name
    return None


def environment(name, python, *packages):
    """The Python of a virtual environment with these packages; None if they cannot be installed."""
    folder = HOSTS / name
    made, wanted = folder / "made", " ".join([python, *packages])
    if not made.exists() or made.read_text() != wanted:
        say(f"installing {' '.join(packages)} into {folder.relative_to(ROOT)}")
        shutil.rmtree(folder, ignore_errors=True)
        pip = [folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        if any(subprocess.run(command).returncode for command in ([python, "-m", "venv", folder], pip)):
            return None
        made.write_text(wanted)
    return folder / "bin/python"


def python_site(built, site):
    """Puts the Python package of what has been built into a folder of its own."""
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(ROOT / "filters/hosts/python/grainfield", site / "grainfield")
    described = subprocess.run([built / "grainfield-describe", "python"], capture_output=True, check=True).stdout
    (site / "grainfield/filters.py").write_bytes(described)
    shutil.copy(built / "lib_native.so", site / "grainfield/_native.abi3.so")


def newest_ffmpeg():
    """The path of the FFmpeg that a Python package brings; None if it cannot be installed."""
    found = environment("ffmpeg", "python3", "imageio-ffmpeg")
    code = "import imageio_ffmpeg as f; print(f.get_ffmpeg_exe())"
    return found and subprocess.run([found, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def has_frei0r(ffmpeg):
    found = subprocess.run([ffmpeg, "-hide_banner", "-filters"], capture_output=True, text=True).stdout
    return " frei0r " in found


def main(full):
    skipped = []

    def skip(reason):
        if full:
            sys.exit(f"test-hosts full: {reason}")
        say(f"skipped: {reason}")
        skipped.append(reason)

    os.environ["GRAINFIELD_FULL"] = "1" if full else ""
    say("building the shells")
    # A test among them gives dependencies the features that tests give them, so that nothing is compiled again after those.
    run("cargo", "build", "--workspace", "--lib", "--bins", "--test", "studio")

    vapoursynth = "-"
    newer = find_python(12)
    for version in ["vapoursynth==74"] * full + ["vapoursynth>=75"] * (newer is not None):
        name = "".join(c for c in version if c.isdigit())
        found = environment(f"vapoursynth-{name}", newer, version, NUMPY, "vapoursynth-bestsource")
        if found:
            say(version)
            vapoursynth = found
            run(found, "tests/hosts/test_vapoursynth.py")
        else:
            skip("VapourSynth, which could not be installed")
    if newer is None:
        skip("VapourSynth, which needs Python 3.12 or newer")

    frei0r = has_frei0r("ffmpeg")
    if frei0r:
        say("frei0r in FFmpeg")
        run("python3", "tests/hosts/test_frei0r.py")
    else:
        skip("frei0r and the lines of the handbook: this FFmpeg has no frei0r")
    if full:
        newest = newest_ffmpeg() or sys.exit("no network")
        say("frei0r in the newest FFmpeg")
        run("python3", "tests/hosts/test_frei0r.py", GRAINFIELD_FFMPEG=newest)
        say("frei0r in MLT and GStreamer")
        run("python3", "tests/hosts/test_editors.py")

    site, host = HOSTS / "site", "-"
    python_site(BUILT, site)
    paths = {"MYPYPATH": str(site), "PYTHONPATH": str(site)}
    python = find_python(10)
    found = python and environment("python", python, NUMPY, "mypy")
    if found:
        say("Python")
        host = found
        run(host, "tests/hosts/test_python.py", **paths)
    else:
        skip("the Python package, which needs Python 3.10 or newer and NumPy")
    if full:
        newest = find_python(13)
        if newest:
            found = environment("python-new", newest, NUMPY, "mypy") or sys.exit("no network")
            run(found, "tests/hosts/test_python.py", **paths)
        else:
            skipped.append("Python 3.13")
    sys.path.insert(0, str(ROOT / "filters/hosts/web"))
    from build import toolchain

    if toolchain() and shutil.which("node"):
        say("the package and the page for browsers")
        run("python3", "tests/hosts/test_web.py")
    else:
        skip("the package for browsers, which needs Node and a compiler for wasm32-unknown-unknown")
    if frei0r:
        say("the lines of the handbook")
        run("python3", "tests/hosts/test_handbook.py", vapoursynth, host, **paths)
    if full:
        run("python3", "filters/hosts/package/package.py", "dev")
        run("tests/hosts/packages.sh", "target/packages", python, newer or "-")

    say(f"passed; skipped: {'; '.join(skipped)}" if skipped else "all host programs passed")


if __name__ == "__main__":
    match sys.argv[1:]:
        case [] | ["full"]:
            main(sys.argv[1:] == ["full"])
        case _:
            sys.exit('test-hosts: only "full" may follow')
