"""Makes a page of all presets and looks, on a bright and a dark photograph: the frame, a part at 1:1, and a loop.

See `./x pictures catalogue`. The hashes of all frames are in docs/catalogue.txt, which tells what has changed.
"""

import hashlib
import subprocess

from pictures import LOOKS, PROGRAM, ROOT, chains, ffmpeg

PAGE = ROOT / "target/catalogue"
HASHES = ROOT / "docs/catalogue.txt"
PLATES = {"bright": "levels=gamma=1.15:out-black=0.05", "dark": "color=saturation=0.6:temperature=-0.3,levels=gamma=0.5"}
FIRST, COUNT = 40, 8
STYLE = "body{background:#1b1b1d;color:#ddd;font:15px sans-serif;margin:2em} img{margin:2px} h2{margin:1.5em 0 .3em}"


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


def plate(name, look):
    """Frames of a still photograph, as numbered files, so that any of them can be asked for."""
    folder = PAGE / name
    folder.mkdir(parents=True, exist_ok=True)
    photo = folder / "photo.png"
    run("frame", ROOT / "samples/pictures/flower.jpg", "0", photo, "-y", "-q", "-f", f"scale=width=1920:height=1080,{look}")
    for number in range(FIRST, FIRST + COUNT):
        (folder / f"plate.{number:04}.png").unlink(missing_ok=True)
        (folder / f"plate.{number:04}.png").hardlink_to(photo)
    return folder / "plate.####.png"


def entry(name, look, plates):
    """The hash of all frames of an entry, and its part of the page."""
    digest, parts = hashlib.sha256(), []
    for on, frames in plates.items():
        made = PAGE / on / name
        made.mkdir(exist_ok=True)
        run("render", frames, made / "####.png", "-y", "-q", *look)
        files = sorted(made.glob("*.png"))
        digest.update(run("render", made / "####.png", "hash:", "-q").encode())
        middle = ["-i", files[COUNT // 2], "-frames:v", "1", "-q:v", "3"]
        ffmpeg(*middle, "-vf", "scale=720:405:flags=area", made / "frame.jpg")
        ffmpeg(*middle, "-vf", "crop=540:405:690:500", made / "crop.jpg")
        loop = ["-framerate", "12", "-start_number", str(FIRST), "-i", made / "%04d.png", "-vf", "crop=1080:810:420:200,scale=540:405"]
        ffmpeg(*loop, "-loop", "0", "-quality", "80", made / "loop.webp")
        parts += [f'<img src="{on}/{name}/{file}" loading="lazy">' for file in ("frame.jpg", "crop.jpg", "loop.webp")]
        parts.append("<br>")
        for file in files:
            file.unlink()
    return digest.hexdigest()[:16], "".join(parts)


def main(part):
    entries = [(name, ["-f", chain]) for name, chain, _ in chains()]
    entries += [(recipe.stem, ["--recipe", recipe]) for recipe in LOOKS]
    plates = {name: plate(name, look) for name, look in PLATES.items()}
    lines = HASHES.read_text().splitlines() if HASHES.exists() else []
    before = dict(line.split() for line in lines)
    now, page = ({} if not part else dict(before)), []
    for name, look in (entry for entry in entries if part in entry[0]):
        now[name], pictures = entry(name, look, plates)
        changed = "" if before.get(name) == now[name] else "  changed"
        print(f"{now[name]}  {name}{changed}", flush=True)
        page.append(f"<h2>{name}{changed}</h2>{pictures}")
    HASHES.write_text("".join(f"{name} {digest}\n" for name, digest in sorted(now.items())))
    (PAGE / "index.html").write_text(f"<!doctype html><title>Catalogue</title><style>{STYLE}</style>" + "\n".join(page))
    print(f"{PAGE / 'index.html'}")

