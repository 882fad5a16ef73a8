#!/usr/bin/env python3
"""The filters as WebAssembly: the package in target/web/package, and with a FOLDER the page `try.html` there.

usage: filters/hosts/web/build.py [FOLDER]

A toolchain of rustup's is used if it has the target wasm32-unknown-unknown, else Debian's `rustc-web`, with which the standard
library is built, too."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
OUT = ROOT / "target/web"
PACKAGE = OUT / "package"
TARGET = "wasm32-unknown-unknown"
DEBIAN = Path("/usr/bin/rustc")  # of the package rustc-web
# Half of what an instance could address, so that a picture too large is an error instead of a machine without memory.
FLAGS = f"-Ctarget-feature=+simd128 -Clink-arg=--max-memory={2 << 30}"


def toolchain():
    """What cargo is told to compile for the target; None if no compiler has it."""
    name = TARGET.upper().replace("-", "_")
    flags = {f"CARGO_TARGET_{name}_RUSTFLAGS": FLAGS, "CARGO_TARGET_DIR": str(OUT), "CARGO_INCREMENTAL": "0"}
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    if (Path(sysroot) / "lib/rustlib" / TARGET / "lib").is_dir():
        return flags, []
    if DEBIAN.exists() and Path("/usr/lib/rustlib/src/rust/library").is_dir() and shutil.which("wasm-ld"):
        # RUSTC_BOOTSTRAP for -Zbuild-std.
        own = {"RUSTC": str(DEBIAN), "RUSTC_BOOTSTRAP": "1", f"CARGO_TARGET_{name}_LINKER": "wasm-ld"}
        return flags | own, ["-Zbuild-std=std,panic_abort"]
    return None


def package():
    """Compiles the filters; returns whether there is a compiler for them."""
    found = toolchain()
    if not found:
        print(f"no compiler for {TARGET}: rustup target add {TARGET}, or Debian's rustc-web, rust-web-src and lld")
        return False
    env, options = found
    command = ["cargo", "build", "--locked", "--profile", "web", "-p", "grainfield-web", "--target", TARGET, *options]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, check=True)
    shutil.rmtree(PACKAGE, ignore_errors=True)
    shutil.copytree(HERE / "npm", PACKAGE)
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        shutil.copy(ROOT / name, PACKAGE)
    shutil.copy(OUT / TARGET / "web/grainfield_web.wasm", PACKAGE / "grainfield.wasm")
    return True


def page(folder):
    """Lays out the page: the studio's modules, of which one is replaced, with the package."""
    parts = folder / "try"
    shutil.rmtree(parts, ignore_errors=True)
    shutil.copytree(ROOT / "src/studio/app", parts, ignore=shutil.ignore_patterns("*.html", "*.json", "*.d.ts", "main.js"))
    for file in (HERE / "page").iterdir():
        shutil.copy(file, folder if file.suffix == ".html" else parts)
    shutil.copy(PACKAGE / "index.js", parts / "grainfield.js")
    shutil.copy(PACKAGE / "grainfield.wasm", parts)
    shutil.copy(ROOT / "samples/pictures/flower.jpg", parts)


if __name__ == "__main__":
    if package() and len(sys.argv) == 2:
        page(Path(sys.argv[1]))
