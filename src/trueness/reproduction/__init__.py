"""The experiments of the paper's section 3, run with the library's streaming code and compared with theory.

A *cell* is one scenario, one number of rows and one seed: the rows of `simulate.calibrated(n_rows, alpha, seed)`.
Cells are summed into tables (`cells`), which are saved so that an interrupted run can resume (`store`). Metrics are
computed from the tables (`readings`), compared with the theorems of docs/background/theory.md (`theory`, `results`)
and drawn (`figures`).
"""
