# Arguments of a bash script, by position; its last line of output is the result.
folder="${1:-/}"

echo "looking at $folder" >&2
df -Ph "$folder" | awk 'NR == 2 { print $5 " of " $2 " used" }'
