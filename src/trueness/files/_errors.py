"""What a user can cause and mend: one line of cause, one of remedy."""

from __future__ import annotations


class InputError(ValueError):
    """A file, a row or an option that cannot be used, and what to do about it.

    >>> str(InputError("preds.csv holds no rows", "check how it was written"))
    'preds.csv holds no rows; check how it was written'
    """

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(f"{cause}; {remedy}")
        self.cause, self.remedy = cause, remedy

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str]]:
        """As it was made: a worker's refusal reaches another process whole."""
        return InputError, (self.cause, self.remedy)


def shown(value: object, most: int = 60) -> str:
    r"""A value of a file as it may be printed: quoted, without control characters, and not longer than a line.

    >>> shown("a\x1b[31m")
    "'a\\x1b[31m'"
    >>> len(shown("b" * 100))
    63
    """
    text = str(value)
    return repr(text if len(text) <= most else text[:most] + "…") if isinstance(value, str) else text[:most]


def nearest(name: str, known: list[str]) -> str:
    """The known name that was probably meant, as the end of a sentence; all of them if they are few and none is near.

    >>> nearest("labels", ["label", "weight"]), nearest("z", ["label", "weight"])
    ("did you mean 'label'?", "there are 'label', 'weight'")
    >>> nearest("Y", ["y", "p_0"])
    "did you mean 'y'?"
    """
    from difflib import get_close_matches

    lower = {other.lower(): other for other in reversed(known)}
    near = [lower[letters] for letters in get_close_matches(name.lower(), list(lower), n=1)]
    if near:
        return f"did you mean {shown(near[0])}?"
    listed = ", ".join(shown(other) for other in known[:12])
    return f"there are {listed}" + (f" and {len(known) - 12} more" if len(known) > 12 else "")
