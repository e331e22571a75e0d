"""Two hundred rows of three classes, with weights, from which the tests of tables are made."""

import numpy as np

RNG = np.random.default_rng(7)
Y_PROB = RNG.dirichlet([1.0, 1.0, 1.0], 200)
Y_TRUE = RNG.integers(0, 3, 200)
WEIGHT = RNG.gamma(1.0, 1.0, 200)
