# A service in use: a table for each day, and an alarm when its certainty can no longer be trusted.
set -e
for day in 01 02 03 04; do
    sharpen=$([ "$day" -lt 03 ] && echo 1 || echo 1.5)
    trueness simulate --n-rows 5000 --alpha 5,1,1 --rng-seed "$day" --sharpen "$sharpen" -o "rows.csv"
    trueness tabulate rows.csv -o "tables/2026-11-$day.json"
    trueness monitor tables --state service.monitor --tolerance .02 --report service.html
done
