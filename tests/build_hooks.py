"""The build hook of a source tree."""

from pathlib import Path
from typing import Any


def make_hook(root: Path) -> Any:
    import hatch_build

    return hatch_build.LibraryHook(str(root), {}, None, None, str(root / "dist"), "wheel")  # type: ignore[arg-type]
