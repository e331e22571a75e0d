"""What the rows of several models have in common, and refusals of rows that do not belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trueness.bins import EqualMass
from trueness.old_table import AnySpec
from trueness.old_table.plan import TablePlan
from trueness.refusals import InvalidValueError
from trueness.rows import OptionRows
from trueness.rows.class_columns import Columns
from trueness.rows.containers import refuse_other_index
from trueness.rows.option_rows import refuse_other_options
from trueness.tabulation import AnyRows


def refuse_other_models(y_probs: Any, models: Mapping[str, Any]) -> None:
    """Refuse predictions of other models than those of the Comparer."""
    if isinstance(y_probs, Mapping) and set(map(str, y_probs)) == set(models):
        return
    found = sorted(map(str, y_probs)) if isinstance(y_probs, Mapping) else type(y_probs).__name__
    cause = f"y_probs must hold the predictions of {sorted(models)}, got {found}"
    raise InvalidValueError("wrong-models", cause, argument="y_probs", value=found)


def refuse_other_rows(
    rows: Mapping[str, AnyRows], specs: Mapping[str, Sequence[AnySpec]], n_classes: int, *, options: bool
) -> None:
    """Refuse rows with another number of classes, or with weights where there are none and vice versa."""
    if options:
        refuse_other_options({name: of.n_options for name, of in rows.items() if isinstance(of, OptionRows)})
    for name, of_model in rows.items():
        spec = specs[name][0]
        if not options and of_model.n_classes != n_classes:
            raise InvalidValueError(
                "wrong-shape",
                f"the predictions of {name!r} have {of_model.n_classes} classes, not {n_classes}",
                argument="y_probs",
                value=of_model.n_classes,
            )
        if spec.weighted != (of_model.sample_weight is not None):
            cause = (
                f"a Comparer with weighted={spec.weighted} needs sample_weight"
                if spec.weighted
                else f"a Comparer with weighted={spec.weighted} takes no sample_weight"
            )
            raise InvalidValueError("bad-argument", cause, argument="sample_weight")


def first_columns(rows: Mapping[str, AnyRows]) -> Columns | None:
    """The columns of the first model whose columns have names."""
    return next((given.columns_of_classes for given in rows.values() if given.columns_of_classes), None)


def common_index(rows: Mapping[str, AnyRows]) -> Any:
    """The row labels that the models have in common; refused if they differ."""
    indexes = {name: given.index for name, given in rows.items() if given.index is not None}
    if not indexes:
        return None
    first, *others = indexes
    for name in others:
        refuse_other_index(f"y_probs[{first!r}]", indexes[first], f"y_probs[{name!r}]", indexes[name])
    return indexes[first]


def refuse_equal_mass(plan: TablePlan) -> None:
    """Refuse bins that depend on rows which are still to come."""
    if any(isinstance(bins, EqualMass) for _, bins in plan.wanted):
        cause = "EqualMass bins depend on all rows, but a Comparer gets them in batches"
        remedy = (
            "pass a mapping from each model to a pair, (EqualMass(...).fit(y_prob), "
            "EqualMass(...).fit(y_prob, variation='confidence'))"
        )
        raise InvalidValueError("bad-argument", cause, remedy, argument="bins")
