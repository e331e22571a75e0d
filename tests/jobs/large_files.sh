# More rows than fit into memory: each file becomes a small table, once, and tables add.
set -e
for k in 1 2; do
    trueness simulate --n-rows 2e5 --alpha 10,1,1 --rng-seed $k --sharpen 1.05 -o shard-$k.parquet
done

for file in shard-*.parquet; do
    table="${file%.parquet}.json"
    [ -e "$table" ] || trueness tabulate "$file" -o "$table"
done
trueness merge shard-*.json -o all.json
trueness assess all.json --tolerance .02
