"""The program for Windows, with FFmpeg, as an archive that runs by itself: ./x package windows.

FFmpeg's libraries are those of a wheel; the headers of the same version come from Debian 13. Both are only unpacked."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from package import ROOT, VERSION, zipped

OUT = ROOT / "target/windows"
TARGET = "x86_64-pc-windows-gnu"
LINKER = "x86_64-w64-mingw32-gcc"
LIBRARIES = ["avcodec", "avfilter", "avformat", "avutil", "swresample"]
WHEEL = ("av", "15.1.0", "57b99544d91121b8bea570e4ddf61700f679a6b677c1f37966bc1a22e1d4cd5c")
README = f"""Grainfield {VERSION} for Windows 10 and newer, 64 bits

Open a terminal in this folder (the libraries must stay beside the program):

    grainfield.exe render in.mp4 out.mp4 -f grain=preset=35mm
    grainfield.exe studio in.mp4
    grainfield.exe --help

Licences

Grainfield itself is under the MIT licence or the Apache licence 2.0, as you choose. The .dll files are FFmpeg 7.1.1
and what it uses, as the Python package {WHEEL[0]} {WHEEL[1]} has them; they have licences of their own. x264 and x265 among
them are under the GNU General Public Licence, so that this archive as a whole is under version 3 of it (LICENSE-GPL-3):
who passes it on passes on its source too, or says where it is. libsrt-*.dll is not that library: its functions fail.
"""
HEADERS = "7:7.1."  # what Debian's version begins with: FFmpeg 7.1, as in the wheel


def headers(into):
    """Unpacks Debian's headers, with lists of packages that are not the system's."""
    apt = into / "apt"
    (apt / "lists/partial").mkdir(parents=True)
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    asked = ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Label: Debian"]
    mirror = subprocess.check_output(asked, text=True).split()[0]
    (apt / "sources.list").write_text(f"deb [signed-by={keys}] {mirror} trixie main\n")
    private = {
        "Dir::Etc::SourceList": apt / "sources.list",
        "Dir::Etc::SourceParts": "-",
        "Dir::State::Lists": apt / "lists",
        "Dir::State::Status": "/dev/null",
        "Dir::Cache": apt,
        "APT::Sandbox::User": "root",
    }
    get = ["apt-get", "-q", *(f"-o{name}={value}" for name, value in private.items())]
    subprocess.run([*get, "update"], check=True)
    subprocess.run([*get, "download", *(f"lib{name}-dev" for name in LIBRARIES)], cwd=apt, check=True)
    for package in apt.glob("*.deb"):
        version = subprocess.check_output(["dpkg-deb", "--field", package, "Version"], text=True)
        if not version.startswith(HEADERS):
            raise SystemExit(f"{package.name}: not of the version of the libraries")
        subprocess.run(["dpkg-deb", "--extract", package, apt / "root"], check=True)
    shutil.move(apt / "root/usr/include/x86_64-linux-gnu", into / "include")
    # Hardware is not used, and its headers want those of other makers.
    for header in (into / "include/libavutil").glob("hwcontext_*.h"):
        header.unlink()
    shutil.rmtree(apt)


def libraries(into):
    """Unpacks the libraries, and makes what the linker reads of them."""
    name, version, digest = WHEEL
    choice = ["--no-deps", "--only-binary=:all:", "--platform=win_amd64", "--python-version=3.11"]
    get = [sys.executable, "-m", "pip", "download", "--quiet", *choice, "--dest", into, f"{name}=={version}"]
    subprocess.run(get, check=True)
    wheel = next(into.glob("*.whl"))
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != digest:
        raise SystemExit(f"{wheel.name}: not the file that is expected")
    for folder in ("bin", "lib"):
        (into / folder).mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for path in archive.namelist():
            # FFmpeg's devices are not used. OpenSSL serves the protocol SRT alone: see below.
            if path.endswith(".dll") and not path.startswith(("av.libs/avdevice", "av.libs/libcrypto")):
                (into / "bin" / Path(path).name).write_bytes(archive.read(path))
    for name in LIBRARIES:
        dll = next((into / "bin").glob(f"{name}-*.dll"))
        listed = subprocess.check_output(["x86_64-w64-mingw32-objdump", "-p", dll], text=True)
        exports = re.findall(r"^\t\[ *\d+\] (\w+)$", listed.split("[Ordinal/Name Pointer] Table")[-1], re.M)
        (into / "lib/def").write_text(f"LIBRARY {dll.name}\nEXPORTS\n" + "\n".join(exports))
        subprocess.run(
            ["x86_64-w64-mingw32-dlltool", "-d", into / "lib/def", "-l", into / f"lib/lib{name}.dll.a"], check=True
        )
    # In the place of libsrt, which only addresses of that protocol need, functions that fail: libsrt needs OpenSSL 1.1,
    # whose licence does not go with the others, and which needs a library of Microsoft's compiler.
    names = set(re.findall(rb"\bsrt_\w+", next((into / "bin").glob("avformat-*.dll")).read_bytes()))
    (into / "srt.c").write_text("".join(f"int {name.decode()}(void) {{ return -1; }}\n" for name in sorted(names)))
    srt = next((into / "bin").glob("libsrt-*.dll"))
    subprocess.run([LINKER, "-shared", "-s", "-o", srt, into / "srt.c"], check=True)


def ffmpeg():
    """Where FFmpeg for Windows is, which is fetched once."""
    folder = OUT / f"ffmpeg-{WHEEL[2][:8]}"
    if not folder.is_dir():
        made = OUT / "part"
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        headers(made)
        libraries(made)
        made.rename(folder)
    return folder


def build(profile, ffmpeg):
    """Builds the program; returns its path."""
    clang = "--target=x86_64-w64-mingw32 -I/usr/x86_64-w64-mingw32/include"
    env = {
        **os.environ,
        "RUSTC": "/usr/bin/rustc",  # Debian's, which has the source of the standard library
        "RUSTC_BOOTSTRAP": "1",  # -Zbuild-std
        "CARGO_INCREMENTAL": "0",
        "CARGO_TARGET_DIR": str(OUT),
        "CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER": LINKER,
        "FFMPEG_DIR": str(ffmpeg),
        "BINDGEN_EXTRA_CLANG_ARGS_x86_64_pc_windows_gnu": clang,
    }
    std = ["--locked", "--target", TARGET, "-Zbuild-std=std,panic_unwind"]
    subprocess.run(["cargo", "build", *std, "--profile", profile, "--bin", "grainfield"], cwd=ROOT, env=env, check=True)
    return OUT / TARGET / profile.replace("dev", "debug") / "grainfield.exe"


def package(profile):
    """Makes the archive; returns its path."""
    libraries = ffmpeg()
    program = build(profile, libraries)
    subprocess.run(["x86_64-w64-mingw32-strip", "-o", OUT / "stripped.exe", program], check=True)
    contents = {
        "grainfield.exe": OUT / "stripped.exe",
        **{dll.name: dll for dll in sorted((libraries / "bin").iterdir())},
        **{name: ROOT / name for name in ("LICENSE-MIT", "LICENSE-APACHE")},
        "LICENSE-GPL-3": Path("/usr/share/common-licenses/GPL-3"),
    }
    name = f"grainfield-{VERSION}-windows-x86_64"
    files = {f"{name}/{file}": (path.read_bytes(), path.suffix in (".exe", ".dll")) for file, path in contents.items()}
    files[f"{name}/README.txt"] = (README.replace("\n", "\r\n").encode(), False)
    (ROOT / "target/packages").mkdir(parents=True, exist_ok=True)
    archive = ROOT / f"target/packages/{name}.zip"
    zipped(archive, files)
    return archive


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["dev"]):
        sys.exit('package windows: only "dev" may follow')
    package("dev" if sys.argv[1:] else "release")
