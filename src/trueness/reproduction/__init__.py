"""The experiments of the paper's section 3, end to end on the library's own streaming path, judged by theory.

A *cell* is one scenario, one number of rows and one seed: the rows of `simulate.calibrated(n_rows, alpha, seed)`.
Cells become tables (`cells`), tables are kept in files so that an interrupted run goes on (`store`), numbers are read
off them and compared with what the theorems of docs/theory.md say (`theory`, `results`), and then drawn (`figures`).
"""
