"""An analyst's spreadsheet: the right answer, the predicted one and how sure the model was."""

import subprocess

import numpy as np
import openpyxl

rng = np.random.default_rng(0)
book = openpyxl.Workbook()
book.active.append(["case", "diagnosis", "predicted", "confidence"])
for case in range(500):
    confidence = rng.uniform(0.5, 1)
    right = rng.random() < 0.8 * confidence
    diagnosis = "flu" if case % 3 else "cold"
    other = "cold" if diagnosis == "flu" else "flu"
    predicted = diagnosis if right else other
    book.active.append([case, diagnosis, predicted, f"{100 * confidence:.2f} %".replace(".", ",")])
book.save("cases.xlsx")

columns = ["--label", "diagnosis", "--predicted", "predicted", "--confidence", "confidence"]
subprocess.run(["trueness", "assess", "cases.xlsx", *columns, "--percent"], check=True)
