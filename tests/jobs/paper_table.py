"""A table for a paper: three models on two data sets, with intervals, as LaTeX."""

import numpy as np

import trueness as tn
from trueness.demo import load_digits

digits = load_digits()
half = np.arange(len(digits.y_true)) % 2 == 0

predictions = {}
for model, y_prob in digits.y_prob.items():
    predictions[model, "even rows"] = digits.y_true[half], y_prob[half]
    predictions[model, "odd rows"] = digits.y_true[~half], y_prob[~half]

table = tn.assess_many(predictions, metric="ece")
print(table)
print(table.to_latex())
with open("table.md", "w", encoding="utf-8") as file:
    file.write(table.to_markdown())
