#!/usr/bin/env bash
# The scripts of samples/cluster with real programs: Slurm on this machine, and OpenJD's runner. One task of each is
# killed; the results must be those of a single run, byte for byte, and for video sample for sample. ./x test-farm calls
# it with the program's path. It needs root and Slurm's daemons, and installs openjd into target/openjd.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
GRAINFIELD=$(realpath "$1")
export GRAINFIELD
openjd=$PWD/target/openjd/bin/openjd
farm=$PWD/samples/cluster
run=$(mktemp -d "${TMPDIR:-/tmp}/grainfield-farm.XXXXXX")
pids=()

clean_up() {
  local status=$?
  if [ "$status" -ne 0 ]; then
    tail -n 20 "$run"/slurm/*.log "$run"/*.log 2>/dev/null || true
  fi
  [ "${#pids[@]}" -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
  wait "${pids[@]}" 2>/dev/null || true
  rm -rf "$run"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

fail() {
  printf 'test-farm: %s\n' "$*" >&2
  exit 1
}

[ "$(id -u)" -eq 0 ] && command -v slurmctld >/dev/null || fail "this starts Slurm's daemons, which takes slurm-wlm and root"
if [ ! -x "$openjd" ]; then
  python3 -m venv target/openjd
  target/openjd/bin/pip install --quiet --disable-pip-version-check 'openjd-cli>=0.8,<0.9'
fi

# until SECONDS WHAT COMMAND...: waits until the command succeeds.
until_it_is() {
  local left=$(($1 * 10)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || fail "$what does not come"
    sleep 0.1
  done
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start_slurm() {
  local slurm=$run/slurm host
  host=$(hostname -s)
  mkdir -p "$slurm/state" "$slurm/spool"
  cat >"$slurm/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.log
ReturnToService=2
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
  export SLURM_CONF=$slurm/slurm.conf
  slurmctld -D >"$slurm/ctld.out.log" 2>&1 &
  pids+=($!)
  slurmd -D -f "$SLURM_CONF" >"$slurm/d.out.log" 2>&1 &
  pids+=($!)
  node_is_idle() { [ "$(sinfo -h -o %t)" = idle ]; }
  until_it_is 40 "Slurm's node" node_is_idle
}

# The process ids of our renders with a word on their command line and, for Slurm, a task's number.
renders() {
  local word=$1 task=${2:-} pid
  for pid in $(pgrep -x grainfield); do
    tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qxF -- "$word" || continue
    [ -z "$task" ] || tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "SLURM_ARRAY_TASK_ID=$task" || continue
    echo "$pid"
  done
}

# Kills the render that writes an output, after it has done some work.
kill_one() {
  local word=$1 task=${2:-} pid
  there() { [ -n "$(renders "$word" "$task")" ]; }
  until_it_is 60 "a render to be killed" there
  sleep 0.3
  pid=$(renders "$word" "$task" | head -n 1)
  if [ -n "$pid" ] && kill -9 "$pid"; then
    killed=$((killed + 1))
    echo "killed process $pid"
  fi
}

ended() {
  [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]
}

# Renders as an array of four tasks; the second one is killed once.
array() {
  local input=$1 output=$2 join
  shift 2
  join=$("$farm/submit.sh" 4 "$input" "$output" "$@" | tee "$run/ids" | cut -d' ' -f2)
  kill_one "$output" 2
  until_it_is 120 "the end of the join job" ended "$join"
  scontrol -o show job "$join" | grep -q JobState=COMPLETED || fail "the join job did not end well"
}

same_video() {
  cmp <("$GRAINFIELD" hash "$1" -q) <("$GRAINFIELD" hash "$2" -q) || fail "$2 is not as $1"
  cmp <(ffprobe -v error -show_entries packet=stream_index,pts,size -of csv "$1" | sort) \
    <(ffprobe -v error -show_entries packet=stream_index,pts,size -of csv "$2" | sort) || fail "$2: other packets than $1"
}

same_sequence() {
  diff -r -x '.*' "$1" "$2" || fail "$2 is not as $1"
  [ -z "$(find "$2" -name '*.tmp')" ] || fail "temporary files are left in $2"
}

cd "$run"
killed=0
# Slow enough that a render can be killed in the middle, also on a fast machine.
slow=transform=rotate=1:kernel=lanczos
filters=noise=strength=6,$slow,$slow,$slow,$slow,$slow,$slow
echo "one run of each, to compare with"
"$GRAINFIELD" render pattern:zoneplate:size=640x360:frames=120 clip.mkv --lossless -q
ffmpeg -v error -f lavfi -i sine=frequency=440:duration=5 -i clip.mkv -map 1:v -map 0:a -c:v copy -c:a aac in.mkv
mkdir one array chunks
"$GRAINFIELD" render in.mkv one.mkv -f "$filters" --lossless -q
"$GRAINFIELD" render in.mkv one/f.####.png -f "$filters" -q

echo "Slurm: a video, then a sequence"
start_slurm
array in.mkv "$run/array.mkv" -f "$filters" --lossless --segment-frames 10 --threads 1
same_video one.mkv array.mkv
array in.mkv "$run/array/f.####.png" -f "$filters" --threads 1
same_sequence one array

echo "OpenJD: a video, then a sequence"
# killed once, which ends the session; then run again
jobs_of() {
  local output=$1
  shift
  "$openjd" run "$@" -p "Input=$run/in.mkv" -p "Output=$output" -p "Filters=$filters" -p "Grainfield=$GRAINFIELD" \
    --run-dependencies >"$run/openjd.log" 2>&1
}
twice() {
  local output=$1 first
  jobs_of "$@" &
  first=$!
  pids+=("$first")
  kill_one "$output"
  wait "$first" && fail "a killed task did not end the session"
  jobs_of "$@" || fail "the second session failed"
}
twice "$run/chunks.mkv" "$farm/video.openjd.yaml" --step Join -p Shards=3 -p ChunkSize=2 \
  -p "Options=--lossless --segment-frames=10 --threads=1"
same_video one.mkv chunks.mkv
twice "$run/chunks/f.####.png" "$farm/sequence.openjd.yaml" --step Check -p Frames=0-119 -p ChunkSize=40
same_sequence one chunks

[ "$killed" -eq 4 ] || fail "only $killed tasks were killed"
echo "all as one run: a video and a sequence by Slurm and by OpenJD, a task of each killed"
