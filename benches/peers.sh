#!/usr/bin/env bash
# Comparison with other programs in one run: processor time of the whole process for adding noise to a test signal
# and discarding it, minus that of the same run without the filter.
#
#   benches/peers.sh [ROUNDS]        FFMPEG_NEW=path: a newer ffmpeg, measured too
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rounds=${1:-5}
gf=target/release/grainfield
[ -x "$gf" ] || cargo build --release --bin grainfield

# User and system seconds of a command, the minimum of the rounds.
cpu() {
  local best='' t
  for ((i = 0; i < rounds; i++)); do
    t=$({ TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }')
    best=$(awk -v a="${best:-$t}" -v b="$t" 'BEGIN { print (a < b) ? a : b }')
  done
  printf '%s' "$best"
}

# WITH WITHOUT FRAMES: milliseconds per frame.
cost() {
  awk -v a="$1" -v b="$2" -v n="$3" 'BEGIN { printf "%.3f", (a - b) * 1000 / n }'
}

ours() { # format size frames
  local input=pattern:bars:size=$2:frames=$3:format=$1
  cost "$(cpu "$gf" render "$input" null: -f noise=strength=10 -q)" "$(cpu "$gf" render "$input" null: -q)" "$3"
}

theirs() { # program size frames
  local input=(-nostdin -v error -f lavfi -i "color=gray:size=$2:rate=24" -frames:v "$3" -pix_fmt yuv420p)
  cost "$(cpu "$1" "${input[@]}" -vf noise=alls=10:allf=t+u -f null -)" "$(cpu "$1" "${input[@]}" -f null -)" "$3"
}

ratio() {
  awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else printf "-" }'
}

printf '%-12s %-28s %10s\n' size program 'ms a frame'
for size in 1920x1080 3840x2160; do
  frames=400
  [ "$size" = 1920x1080 ] || frames=120
  eight=$(ours yuv420p "$size" "$frames")
  ten=$(ours yuv420p10 "$size" "$frames")
  printf '%-12s %-28s %10s\n' "$size" 'grainfield, 8 bits' "$eight"
  printf '%-12s %-28s %10s   %s times our 8 bits\n' "$size" 'grainfield, 10 bits' "$ten" "$(ratio "$ten" "$eight")"
  for program in ffmpeg "${FFMPEG_NEW:-}"; do
    if [ -z "$program" ]; then
      printf '%-12s %-28s %10s\n' "$size" 'a newer ffmpeg' absent
    elif ! command -v "$program" >/dev/null; then
      printf '%-12s %-28s %10s\n' "$size" "$program" absent
    else
      version=$("$program" -version | awk 'NR == 1 { print $3 }')
      t=$(theirs "$program" "$size" "$frames")
      printf '%-12s %-28s %10s   ours is %s of it\n' "$size" "ffmpeg ${version%%-*}, 8 bits" "$t" "$(ratio "$eight" "$t")"
    fi
  done
done
