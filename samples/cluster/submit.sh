#!/bin/bash
# A render as a Slurm job array of N tasks, and the job that joins it when all have ended well:
#
#   submit.sh N INPUT OUTPUT [options of grainfield render]
#   submit.sh 8 reel.mkv out.mkv -f grain=preset=35mm --lossless
#   submit.sh 8 'plate.####.exr' 'out/plate.####.exr' -f noise=strength=4
#
# Sent again with the same words it makes only what is missing. Prints the numbers of the two jobs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ "$#" -ge 3 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
count=$1
shift
array=$(sbatch --parsable --array="1-$count" "$here/array.sbatch" "$@")
join=$(sbatch --parsable --dependency="afterok:$array" "$here/join.sbatch" "$2")
echo "$array $join"
