"""Makes two wheels, a Debian package and an archive of the source in target/packages. Usage: package.py [dev]

See `./x package`. "dev": without optimisation, which is what the tests of packages are content with.
"""

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
VERSION = re.search(r'^\[workspace.package\]\nversion = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def platform(*binaries):
    """The oldest system that has the C library's functions which are called."""
    newest = (2, 17)
    for binary in binaries:
        listed = subprocess.run(["objdump", "-T", binary], capture_output=True, text=True, check=True).stdout
        for found in re.findall(r"GLIBC_2\.(\d+)", listed):
            newest = max(newest, (2, int(found)))
    machine = subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout.strip()
    return f"manylinux_{newest[0]}_{newest[1]}_{machine}"


def pack(out, name, tag, files, summary, python, needs):
    """Writes the wheel: ``files`` is where each stands, its bytes, and whether it is a program."""
    full = name.replace("-", "_")
    info = f"{full}-{VERSION}.dist-info"
    lines = [
        "Metadata-Version: 2.4", f"Name: {name}", f"Version: {VERSION}", f"Summary: {summary}",
        "License-Expression: MIT OR Apache-2.0", "License-File: LICENSE-MIT", "License-File: LICENSE-APACHE",
        f"Requires-Python: {python}", *(f"Requires-Dist: {need}" for need in needs),
        "Classifier: Topic :: Multimedia :: Video", "Description-Content-Type: text/markdown", "",
        (ROOT / "README.md").read_text(),
    ]  # fmt: skip
    wheel = f"Wheel-Version: 1.0\nGenerator: grainfield\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files = dict(files)
    files[f"{info}/METADATA"] = ("\n".join(lines).encode(), False)
    files[f"{info}/WHEEL"] = (wheel.encode(), False)
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[f"{info}/licenses/{licence}"] = ((ROOT / licence).read_bytes(), False)
    record = ""
    for path, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), False)
    zipped(Path(out) / f"{full}-{VERSION}-{tag}.whl", files)


def zipped(target, files):
    """Writes an archive: ``files`` is where each stands, its bytes, and whether it is a program."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, (data, program) in files.items():
            # A fixed time, so that the same files give the same archive.
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            archive.writestr(entry, data)
    print(target)


def stripped(path):
    """A library or program without what only a debugger reads."""
    copy = Path(path).with_suffix(".stripped")
    subprocess.run(["strip", "--strip-unneeded", "-o", copy, path], check=True)
    return copy.read_bytes()


def vapoursynth_wheel(built, out):
    library = built / "libgrainfield_vapoursynth.so"
    folder = "vapoursynth/plugins/grainfield"
    manifest = "[VapourSynth Manifest V1]\nlibgrainfield_vapoursynth\n"
    files = {
        f"{folder}/libgrainfield_vapoursynth.so": (stripped(library), True),
        f"{folder}/manifest.vs": (manifest.encode(), False),
    }
    summary = "Deterministic noise, film grain and effects for VapourSynth"
    pack(out, "vapoursynth-grainfield", f"py3-none-{platform(library)}", files, summary, ">=3.12", ["vapoursynth>=74"])


def python_wheel(built, out):
    library, program = built / "lib_native.so", built / "portable" / "grainfield"
    module = subprocess.run([built / "grainfield-describe", "python"], capture_output=True, check=True).stdout
    files = {
        f"grainfield/{path.name}": (path.read_bytes(), False)
        for path in sorted((ROOT / "filters/hosts/python/grainfield").iterdir())
        if path.suffix in (".py", ".pyi", ".typed") and path.name != "filters.py"
    }
    files["grainfield/filters.py"] = (module, False)
    files["grainfield/py.typed"] = (b"", False)
    files["grainfield/_native.abi3.so"] = (stripped(library), True)
    # The command, without FFmpeg: `pipx run grainfield`.
    files[f"grainfield-{VERSION}.data/scripts/grainfield"] = (stripped(program), True)
    summary = "Deterministic noise, film grain and effects for images and video"
    tag = f"cp310-abi3-{platform(library, program)}"
    pack(out, "grainfield", tag, files, summary, ">=3.10", ["numpy>=1.23"])



def cargo(profile, *arguments):
    subprocess.run(["cargo", "build", "--profile", profile, *arguments], cwd=ROOT, check=True)


def main(profile):
    built, out = ROOT / "target" / profile.replace("dev", "debug"), ROOT / "target/packages"
    shutil.rmtree(out, ignore_errors=True)
    for folder in (out, built / "portable"):
        folder.mkdir(parents=True, exist_ok=True)
    # Whole packages, so that what both builds depend on is compiled once.
    shells = [f"--package=grainfield-{name}" for name in ("host-kit", "vapoursynth", "frei0r", "python")]
    cargo(profile, *shells, "--package=grainfield", "--no-default-features", "--features=cli")
    shutil.copy(built / "grainfield", built / "portable/grainfield")
    cargo(profile, "--package=grainfield")
    python_wheel(built, out)
    vapoursynth_wheel(built, out)
    if shutil.which("dpkg-shlibdeps"):
        # Without optimisation two copies of the plugin do not fit into the window of xz; that package is not distributed.
        flags = ["-z0"] if profile == "dev" else []
        subprocess.run([ROOT / "filters/hosts/package/deb.sh", built, out, *flags], check=True)
    else:
        print("skipped: the Debian package, which needs dpkg-shlibdeps")
    name = f"grainfield-{VERSION}"
    archive = ["git", "archive", "--format=tar.gz", f"--prefix={name}/", "-o", out / f"{name}.tar.gz", "HEAD"]
    subprocess.run(archive, cwd=ROOT, check=True)
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size:>12}  {path}")


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["dev"]):
        sys.exit('package: only "dev" may follow')
    main("dev" if sys.argv[1:] else "release")
