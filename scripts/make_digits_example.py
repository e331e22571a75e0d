"""Make ``src/trueness/data/digits.npz``: out-of-fold predictions of three classifiers on scikit-learn's digits.

Each of the 1797 images is predicted by a model fitted without it (stratified 5-fold cross-validation). The
seeds are fixed. Run it with ``python scripts/make_digits_example.py`` in an environment that has scikit-learn.
"""

from pathlib import Path

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

DESTINATION = Path(__file__).parents[1] / "src" / "trueness" / "data" / "digits.npz"
SEED = 20260212
# For sums of float32 probabilities; the library refuses rows that are further from 1.
ROW_SUM_TOLERANCE = 1e-5


def classifiers() -> dict[str, ClassifierMixin]:
    """Three models: one known to be over-confident, one under-confident, one close to calibrated."""
    return {
        "naive_Bayes": GaussianNB(),
        "random_forest": RandomForestClassifier(n_estimators=200, random_state=SEED),
        "logistic_regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    }


def out_of_fold(model: ClassifierMixin, images: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Class probabilities (rows, classes) in float32, each row predicted by a model fitted without it."""
    folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=SEED)
    y_prob = cross_val_predict(model, images, labels, cv=folds, method="predict_proba").astype(np.float32)
    worst = np.abs(y_prob.sum(axis=1, dtype=np.float64) - 1).max()
    if worst > ROW_SUM_TOLERANCE:
        raise RuntimeError(f"a row of {model} sums to 1 only within {worst}")
    return y_prob


def main() -> None:
    """Train, predict, write, and print the size of the file."""
    images, labels = load_digits(return_X_y=True)
    y_prob = {name: out_of_fold(model, images, labels) for name, model in classifiers().items()}
    DESTINATION.parent.mkdir(exist_ok=True)
    np.savez_compressed(DESTINATION, y_true=labels.astype(np.uint8), **y_prob)
    print(f"{DESTINATION.name}: {labels.size} rows, {DESTINATION.stat().st_size} bytes")


if __name__ == "__main__":
    main()
