"""Build the wheels for all platforms into ``dist/`` and print their sizes.

``make release-check`` runs it; it needs ziglang, which compiles for every platform from any machine.
"""

import os
import sys
import tempfile
import zipfile
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[1]
MEGABYTE = 1e6
LARGEST_LIBRARY = 4 * MEGABYTE


def build_wheel(triple: str, folder: Path) -> Path:
    """The wheel for a platform, built in a folder."""
    os.environ["TRUENESS_TARGET"] = triple
    return Path(next(WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])))


def library_size(wheel: Path) -> int:
    """The size of the library in a wheel, in bytes."""
    with zipfile.ZipFile(wheel) as archive:
        (size,) = [file.file_size for file in archive.infolist() if Path(file.filename).stem == "_library"]
    return size


def main() -> int:
    """Build all wheels; 1 if a library is too large."""
    sys.path.insert(0, str(ROOT))
    from hatch_build import TARGETS

    too_large = False
    print(f"{'wheel':<56}{'size, MB':>9}{'library, MB':>13}")
    with tempfile.TemporaryDirectory() as cache:
        # The builds share it: ziglang compiles some parts of its own.
        os.environ |= {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        for target in TARGETS:
            wheel = build_wheel(target.triple, ROOT / "dist")
            size = library_size(wheel)
            too_large |= size > LARGEST_LIBRARY
            whole = wheel.stat().st_size
            print(f"{wheel.name:<56}{whole / MEGABYTE:>9.2f}{size / MEGABYTE:>13.2f}", flush=True)
    if too_large:
        print(f"a library is larger than {LARGEST_LIBRARY / MEGABYTE:.0f} MB", file=sys.stderr)
    return int(too_large)


if __name__ == "__main__":
    sys.exit(main())
