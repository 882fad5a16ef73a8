#!/usr/bin/env bash
# Renders a few things, and checks that one frame alone is the frame of the full render. Usage: demo.sh PROGRAM OUT (see ./x demo)
set -euo pipefail
gf=$1 out=$2
noise=noise=strength=8
ff=(ffmpeg -nostdin -hide_banner -loglevel error -y)
rm -rf "$out"
mkdir -p "$out/shot"
say() { printf '\n== %s\n' "$*"; }

say "a clip to work on, by ffmpeg through a pipe"
"${ff[@]}" -f lavfi -i mandelbrot=size=960x540:rate=25 -frames:v 75 -pix_fmt yuv420p -f yuv4mpegpipe - >"$out/clip.y4m"
"$gf" probe "$out/clip.y4m"

say "noise, new in every frame"
"$gf" render "$out/clip.y4m" "$out/noise.y4m" -f "$noise"

say "noise that comes and goes, between two ffmpegs"
"${ff[@]}" -i "$out/clip.y4m" -f yuv4mpegpipe - |
  "$gf" render - - -f "noise=strength='0=0;37=24;74=0'" | "${ff[@]}" -i - "$out/moving.mp4"

say "ten frames as numbered images"
"$gf" render "$out/clip.y4m" "$out/shot/shot.####.png" -f "$noise" --frame-offset 1001 --frames 1041-1050

say "film grain on a video with sound, and stills of it"
"${ff[@]}" -i "$out/clip.y4m" -f lavfi -i sine=frequency=440:duration=3 -c:v libx264 -pix_fmt yuv420p -c:a aac -shortest "$out/film.mp4"
"$gf" render "$out/film.mp4" "$out/film-grain.mp4" -f grain=preset=16mm
"$gf" frame "$out/film.mp4" 60 "$out/film-before.png"
"$gf" frame "$out/film.mp4" 60 "$out/film-after.png" -f grain=preset=16mm

say "a still before and after"
"$gf" frame "$out/clip.y4m" 40 "$out/before.png"
"$gf" frame "$out/clip.y4m" 40 "$out/after.png" -f "$noise"

say "a 10-bit ramp with noise, without any input"
"$gf" render pattern:ramp:size=960x540:frames=25:format=yuv422p10 "$out/ramp.y4m" -f "$noise"

say "one frame alone is the frame of the full render"
"$gf" hash "$out/clip.y4m" -f "$noise" >"$out/hashes.txt"
"$gf" frame "$out/clip.y4m" 40 "$out/frame40.y4m" -f "$noise"
full=$(awk '$1 == 40 { print $2 }' "$out/hashes.txt")
alone=$("$gf" hash "$out/clip.y4m" -f "$noise" --frames 40 --threads 1 --level scalar -q | awk '{ print $2 }')
file=$("$gf" hash "$out/frame40.y4m" -q | awk '{ print $2 }')
printf 'frame 40 in the full render:   %s\n' "$full"
printf '... alone, one thread, scalar:  %s\n' "$alone"
printf '... alone, written and read:    %s\n' "$file"
[ -n "$full" ] && [ "$full" = "$alone" ] && [ "$full" = "$file" ] || { echo "they differ" >&2; exit 1; }

say "made"
find "$out" -type f | sort
