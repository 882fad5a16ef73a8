#!/usr/bin/env bash
# The packages of `./x package` in fresh places. Usage: packages.sh FOLDER PYTHON PYTHON-FOR-VAPOURSYNTH|- [VIDEO]
# With a video, that one is rendered in the fresh Debian, too.
set -euo pipefail
out=$(cd "$1" && pwd) python=$2 newer=$3 video=${4:+$(realpath "$4")}
clip=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/samples/pictures/flower.jpg
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { printf '== %s\n' "$*"; }
cd "$work"
input='pattern:ramp:size=64x48:frames=3'

say "the wheel for Python"
"$python" -m venv python
python/bin/pip install --quiet --disable-pip-version-check "$out"/grainfield-*.whl
python/bin/python -c 'import grainfield as gf, numpy as np; assert gf.noise(np.zeros((8, 8), np.uint8) + 128).std() > 1'
wanted=$(python/bin/grainfield hash "$input" -f grain=preset=16mm)
python/bin/grainfield frame "$clip" 0 still.png -f grain=preset=35mm

if [ "$newer" != - ]; then
  say "the wheel for VapourSynth, found without being loaded"
  "$newer" -m venv newer
  newer/bin/pip install --quiet --disable-pip-version-check "$out"/vapoursynth_grainfield-*.whl
  newer/bin/python -c 'import vapoursynth as vs; c = vs.core.grf.Noise(vs.core.std.BlankClip()); c.get_frame(7)'
  newer/bin/pip uninstall --quiet --yes vapoursynth-grainfield
  newer/bin/python -c 'import vapoursynth as vs; assert not hasattr(vs.core, "grf")'
fi

if ! ls "$out"/*.deb >/dev/null 2>&1; then exit 0; fi
say "the Debian package"
dpkg -x "$out"/grainfield_*.deb tree
[ "$(tree/usr/bin/grainfield hash "$input" -f grain=preset=16mm)" = "$wanted" ]
HOME=$work tree/usr/bin/grainfield frei0r install noise
cmp .frei0r-1/lib/grainfield_noise.so tree/usr/lib/frei0r-1/grainfield_noise.so
gzip -t tree/usr/share/man/man1/grainfield.1.gz
if [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null; then
  say "in a fresh Debian"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | head -1)
  debootstrap --variant=minbase bookworm root "$mirror" >debootstrap.log
  cp -r /etc/apt root/etc/ && cp /etc/resolv.conf root/etc/
  cp "$out"/grainfield_*.deb root/package.deb
  chroot root sh -c 'apt-get update -qq && apt-get install -qq -y --no-install-recommends /package.deb' >install.log 2>&1
  inside() { chroot root "$@"; }
  [ "$(inside grainfield hash "$input" -f grain=preset=16mm)" = "$wanted" ]
  inside grainfield render pattern:bars:size=320x180:frames=24 made.mp4 -q
  [ -z "$video" ] || cp "$video" root/given.mp4
  for file in made ${video:+given}; do
    inside grainfield render "$file.mp4" "$file-grain.mp4" -f grain=preset=35mm -q
    [ "$(inside grainfield hash "$file-grain.mp4" -q | wc -l)" -eq "$(inside grainfield hash "$file.mp4" -q | wc -l)" ]
    ! cmp -s "root/$file.mp4" "root/$file-grain.mp4"
  done
  for file in bash-completion/completions/grainfield zsh/vendor-completions/_grainfield fish/vendor_completions.d/grainfield.fish; do
    [ -s "root/usr/share/$file" ]
  done
  ls root/usr/lib/frei0r-1/grainfield.so root/usr/share/kdenlive/effects/frei0r_grainfield.xml >/dev/null
  # It goes without leaving anything.
  inside dpkg -P grainfield >/dev/null
  [ ! -e root/usr/lib/frei0r-1/grainfield.so ]
fi
say "the packages are well"
