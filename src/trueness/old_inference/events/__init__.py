"""Events: a probability from 0 to 1 and whether it came about, in every row; their metrics, from cells over [0, 1]."""
