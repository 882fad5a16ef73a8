"""Renders the pictures of the handbook: each preset, each filter that has none, and each look, over one photograph.

See `./x pictures`; with `catalogue`, see catalogue.py.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "target/release/grainfield"
WORK = ROOT / "target/pictures"
PAGES = ROOT / "docs/src"
LOOKS = sorted(ROOT.glob("samples/recipes/look-*.toml"))
# The part of the picture that is shown: a crop at 1:1, half of the picture or of its lower half at 1:2, or the full
# picture at 1:4.
CROP = "crop=480:270:780:330"
HALF = "crop=960:540:480:270,scale=480:270:flags=area"
FULL = "scale=480:270:flags=area"
LOW = "crop=960:540:480:540,scale=480:270:flags=area"
FILTERS = [
    ("noise", "noise=strength=8", CROP),
    ("dither", "dither=bits=8", CROP),
    ("fade", "fade=amount=0.5", FULL),
    ("invert", "invert", FULL),
    ("levels", "levels=black=0.1:white=0.8:gamma=1.2", FULL),
    ("color", "color=saturation=0.5:temperature=-0.5", FULL),
    ("lut", f"lut=file={ROOT}/samples/luts/warm-print.cube", FULL),
    ("vignette", "vignette=amount=0.8", FULL),
    ("blur", "blur=sigma=6", CROP),
    ("unsharp", "unsharp=amount=2:size=3", CROP),
    ("glow", "glow=strength=0.8", FULL),
    ("halation", "halation=strength=2:red=20:green=10:threshold=0.6", CROP),
    ("transform", "transform=zoom=1.3:rotate=8", FULL),
    ("dust", "dust=amount=40", HALF),
    ("scratches", "scratches=amount=12", HALF),
    ("sprites", "sprites=scale=6:fade=0.9", FULL),
    ("av1grain", "av1grain=iso=6400", CROP),
]
# Over the photograph, faded to haze, water or night, because agents are dark or small.
FLOCKS = {"starlings": "#d4cfcc", "seagulls": "#8fb4d8", "fish": "#1d5570", "moths": "#0c0c14", "bats": "#6f6a86"}
# Seconds after the start. Heaps are shown near, over the darkened photograph if they are bright.
SANDS = {"pour": 8, "hourglass": 20, "dune": 10, "snowfall": 25, "ash": 25, "confetti": 12, "leaves": 30, "coins": 10}
NEAR_SANDS = ("snowfall", "ash", "confetti", "leaves", "coins")
SMALL_PARTICLES = ("dust-motes", "starfield", "fireflies")


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y", *arguments], check=True)


def picture(path, shown, *look):
    one = WORK / "one.png"
    command = [PROGRAM, "frame", WORK / "photo.png", "40", one, "-y", "-q", "--frame-offset", "40", *look]
    subprocess.run(command, check=True)
    ffmpeg("-i", one, "-vf", shown, "-q:v", "4", path)


def presets(name):
    listed = subprocess.run([PROGRAM, "filters", name, "--json"], capture_output=True, check=True).stdout
    for setting in json.loads(listed)["settings"]:
        if setting["id"] == "preset":
            yield from (choice["id"] for choice in setting["choices"])


def chains():
    """The name, the chain and the shown part of each picture."""
    for name in ("noise", "grain", "analog", "atmosphere", "particles"):
        for preset in presets(name):
            shown = HALF if name == "analog" else CROP
            if name == "atmosphere":
                shown = FULL
            if name == "particles":
                shown = HALF if preset == "film-hairs" or preset in SMALL_PARTICLES else FULL
            yield f"{name}-{preset}", f"{name}=preset={preset}", shown
    for scene in ("dam", "drop", "fountain", "pour", "rain"):
        yield f"fluid-{scene}", f"fluid=scene={scene}:start=2.5", FULL
    for preset, color in FLOCKS.items():
        yield f"flock-{preset}", f"fade=amount=0.8:color={color},flock=preset={preset}", FULL
    for preset, start in SANDS.items():
        shown = LOW if preset in NEAR_SANDS else FULL
        yield f"sand-{preset}", f"fade=amount=0.35:color=#101418,sand=preset={preset}:start={start}", shown
    yield "sand-dissolve", "sand=preset=dissolve:picture_frame=40:start=2.2", FULL
    yield from FILTERS


def main():
    out = PAGES / "filters/pictures"
    for folder in (WORK, out):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    photo = ROOT / "samples/pictures/flower.jpg"
    ffmpeg("-i", photo, "-vf", "scale=1920:1080:flags=lanczos", "-frames:v", "1", WORK / "photo.png")
    for name, chain, shown in chains():
        picture(out / f"{name}.jpg", shown, "-f", chain)
    for recipe in LOOKS:
        picture(PAGES / "pictures" / f"{recipe.stem}.jpg", FULL, "--recipe", recipe)


if __name__ == "__main__":
    if sys.argv[1:2] == ["catalogue"]:
        import catalogue

        catalogue.main(sys.argv[2] if len(sys.argv) > 2 else "")
    else:
        main()
