"""The tables of the particle core, as the paper and the articles have them, into benches/RESULTS.md: `./x bench tables [full]`."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "target/tables"
ROWS = OUT / "rows.md"
# Every side gets its memory in large pages, as many systems do by default.
ENVIRONMENT = {"GRAINFIELD_ROWS": str(ROWS), "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
PAPERS = ("pma", "sph", "fluid_figures", "sand_order")


def bench(name, *arguments):
    package = "grainfield-papers" if name in PAPERS else "grainfield"
    command = ["cargo", "bench", "-p", package, "--bench", name, *arguments]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **ENVIRONMENT}, check=True)


def machine():
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{[*names, platform.machine()][0]}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def main(length):
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    for name in (*PAPERS, "pools", "particle"):
        bench(name, "--no-run")
    bench("pma", "--", "keys", "rates", "scan", "big", *length)
    bench("sph", "--", "search", "shares", *length)
    bench("fluid_figures", "--", "sort", "total", *length)
    bench("pma", "--", "cells", "order", *length)
    bench("sand_order")
    bench("pools", "--", *length)
    bench("particle")
    how = "the long runs" if length else "the shorter runs; `./x bench tables full` makes the long ones"
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    text = f"""# Results of the particle core

Written by `./x bench tables`: {how}.

- machine: {machine()}
- compiler: {rustc}
- memory in large pages for all sides, one thread, processor time; ratios are medians of same-round ratios

## Gates

| work | here | gate | stretch | met |
|---|---:|---:|---:|---:|
{Path(f"{ROWS}.gates").read_text()}
{(ROOT / "benches/NOTES.md").read_text()}
## Tables
{ROWS.read_text()}"""
    (ROOT / "benches/RESULTS.md").write_text(text)
    print("written: benches/RESULTS.md")


if sys.argv[1:] not in ([], ["full"]):
    sys.exit('tables: only "full" may follow')
main(sys.argv[1:])
