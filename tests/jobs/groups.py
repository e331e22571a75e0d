"""Is the model as true in each hospital as in all of them together?"""

import numpy as np
import polars as pl

import trueness as tn

y_true, y_prob = tn.simulate.calibrated(12_000, alpha=[5, 2, 1], rng=0)
hospital = np.array(["east", "north", "south", "west"])[np.arange(12_000) % 4]
y_prob[hospital == "west"] = tn.simulate.sharpen(y_prob[hospital == "west"], 1.5)
rows = pl.DataFrame({"hospital": hospital, "y": y_true})

result = tn.assess(rows["y"], y_prob, groups=rows["hospital"])
print(result)
with open("hospitals.csv", "w", encoding="utf-8") as file:
    file.write(result.to_csv())
