"""Tables of every kind, to be saved and loaded."""

import numpy as np

import trueness as tn

RNG = np.random.default_rng(12)


Y_PROB = RNG.multinomial(8, [0.5, 0.3, 0.2], 40) / 8


Y_TRUE = RNG.integers(0, 3, 40)


WEIGHT = RNG.gamma(1.0, 1.0, 40)


TABLES = {
    "first": tn.tabulate(Y_TRUE, Y_PROB, bins=4),
    "split": tn.tabulate(Y_TRUE, Y_PROB, bins=4, ties="split"),
    "confidence": tn.tabulate(Y_TRUE, Y_PROB, bins=4, variation="confidence"),
    "equal mass": tn.tabulate(Y_TRUE, Y_PROB, bins=tn.EqualMass(4)),
    "edges": tn.tabulate(Y_TRUE, Y_PROB, bins=tn.Edges([0, 0.1 + 0.2, 1 / 3 + 1 / 3, 1])),
    "family": tn.tabulate(Y_TRUE, Y_PROB, bins=4, variation=tn.renyi(1.5)),
    "weighted": tn.tabulate(Y_TRUE, Y_PROB, bins=4, sample_weight=WEIGHT),
    "empty": tn.CalibrationTable.empty(tn.tabulate(Y_TRUE, Y_PROB).spec),
    "fine": tn.tabulate(Y_TRUE, Y_PROB, bins=tn.EqualWidth(500)),
}
