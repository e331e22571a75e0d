# May the new model be released? The pipeline stops if it is less true than it was agreed.
set -e
trueness simulate --n-rows 20000 --alpha 10,1,1 --rng-seed 1 -o model_a.parquet
trueness simulate --n-rows 20000 --alpha 10,1,1 --rng-seed 2 --sharpen 1.6 -o model_b.parquet

trueness assess model_a.parquet --fail-above vce=.05 --fail-below-p .001 --json model_a.json
echo "model_a may be released"
trueness assess model_b.parquet --fail-above vce=.05 --fail-below-p .001 --json model_b.json
echo "model_b may be released"
