#!/usr/bin/env bash
# Builds a Debian package. Usage: deb.sh BUILT OUT [FLAG OF DPKG-DEB...] (see ./x package).
set -euo pipefail
built=$(cd "$1" && pwd) out=$(cd "$2" && pwd)
shift 2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
share=$tree/usr/share

install -Dm755 "$built/grainfield" "$tree/usr/bin/grainfield"
install -Dm644 "$built/libgrainfield_frei0r.so" "$tree/usr/lib/grainfield/frei0r.so"
strip --strip-unneeded "$tree/usr/bin/grainfield" "$tree/usr/lib/grainfield/frei0r.so"
# Copies: the loader treats two links of one file as one library.
"$built/grainfield-describe" names | while read -r name; do
  install -Dm644 "$tree/usr/lib/grainfield/frei0r.so" "$tree/usr/lib/frei0r-1/$name.so"
done
"$built/grainfield-describe" kdenlive "$share/kdenlive/effects"
mkdir -p "$share"/{man/man1,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d,doc/grainfield}
"$built/grainfield" man | gzip -9n >"$share/man/man1/grainfield.1.gz"
"$built/grainfield" completions bash >"$share/bash-completion/completions/grainfield"
"$built/grainfield" completions zsh >"$share/zsh/vendor-completions/_grainfield"
"$built/grainfield" completions fish >"$share/fish/vendor_completions.d/grainfield.fish"
{
  printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n'
  printf 'Files: *\nCopyright: the authors of Grainfield\nLicense: MIT or Apache-2.0\n\n'
  sed 's/^$/./; s/^/ /' "$root/LICENSE-MIT"
} >"$share/doc/grainfield/copyright"
gzip -9nc "$root/CHANGELOG.md" >"$share/doc/grainfield/changelog.gz"

# The packages of linked libraries.
mkdir -p "$work/debian"
printf 'Source: grainfield\n\nPackage: grainfield\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O tree/usr/bin/grainfield tree/usr/lib/grainfield/frei0r.so 2>/dev/null | sed 's/^shlibs:Depends=//')
mkdir -p "$tree/DEBIAN"
cat >"$tree/DEBIAN/control" <<EOF
Package: grainfield
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: the authors of Grainfield <grainfield@localhost>
Installed-Size: $(du -sk "$tree/usr" | cut -f1)
Depends: $depends
Suggests: ffmpeg, kdenlive
Section: video
Priority: optional
Description: deterministic noise, film grain and effects for video
 Puts noise, film grain, particles and fluids on video and image sequences. Any
 frame is a function of the source frame, the recipe, the seed and its number,
 equal on every machine. With plugins of frei0r for Kdenlive, Shotcut, FFmpeg
 and others.
EOF
find "$tree" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group -Zxz "$@" --build "$tree" "$out/grainfield_${version}_$(dpkg --print-architecture).deb"
