"""How other libraries compute a calibration error, so that their numbers can be reproduced on the same rows.

`CONVENTIONS` is the registry. `CONVENTIONS["torchmetrics"].compute(y_true, y_prob).value` is the number that
torchmetrics gives; `tn.ece(y_true, y_prob, convention="torchmetrics", bins=15)` is the same.

>>> import trueness as tn
>>> sorted(tn.conventions.CONVENTIONS)[:4]
['helm', 'hle', 'laves-uce', 'mapie']
"""

from trueness.conventions.assignments import DROPPED, Assignment
from trueness.conventions.definition import Convention, Defect, Reproduced
from trueness.conventions.names import as_convention, value_by_convention
from trueness.conventions.presets import CONVENTIONS
from trueness.conventions.readings import ENTROPY, Reading
from trueness.conventions.totals import Curve, error_of

__all__ = [
    "CONVENTIONS",
    "DROPPED",
    "ENTROPY",
    "Assignment",
    "Convention",
    "Curve",
    "Defect",
    "Reading",
    "Reproduced",
    "as_convention",
    "error_of",
    "value_by_convention",
]
