"""The judges' few verbs, said in the package's names: the one file of a judge that a new name may change.

The judges import this and nothing of the package.
"""

from __future__ import annotations

import trueness as tn

# Numbers and tables -------------------------------------------------------------------------------

vce, ece, uce, rce, cwece = tn.vce, tn.ece, tn.uce, tn.rce, tn.cwece
tabulate = tn.tabulate

# Answers: results, their numbers and their conclusion ---------------------------------------------

assess = tn.assess

# The command: a job and its options as a command line, and what came of it ------------------------
