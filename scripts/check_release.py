"""Check that a release is complete: the tag, the version, the changelog and the citation agree; and what dist/ holds.

``make release-check TAG=v0.2.0`` checks both.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version(root: Path) -> str:
    """The version in its one place."""
    text = (root / "src/trueness/_version.py").read_text(encoding="utf-8")
    (found,) = re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return str(found)


def problems_of_tag(tag: str, root: Path) -> list[str]:
    """What is wrong with a tag for this tree."""
    own = version(root)
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    dated = re.search(rf"^## \[{re.escape(own)}\] - \d{{4}}-\d{{2}}-\d{{2}}$", changelog, re.MULTILINE)
    checks = {
        f"the tag is {tag!r}, but the version is {own}: tag v{own}": tag == f"v{own}",
        f"CHANGELOG.md has no section '## [{own}] - YYYY-MM-DD'": dated is not None,
        f"CITATION.cff has another version than {own}": f"\nversion: {own}\n" in citation,
    }
    return [problem for problem, holds in checks.items() if not holds]


def problems_of_dist(names: list[str], tags: list[str], own: str) -> list[str]:
    """What is missing among the files of dist/, and what does not belong there."""
    wanted = {f"trueness-{own}.tar.gz", *(f"trueness-{own}-py3-none-{tag}.whl" for tag in tags)}
    missing = [f"dist/{name} is missing" for name in sorted(wanted - set(names))]
    return missing + [f"dist/{name} does not belong to version {own}" for name in sorted(set(names) - wanted)]


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    sys.path.insert(0, str(ROOT))
    from hatch_build import TARGETS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--tag", help="the tag of the release, such as v0.2.0")
    what.add_argument("--dist", action="store_true", help="check the files of dist/")
    arguments = parser.parse_args()
    if arguments.dist:
        names = [path.name for path in (ROOT / "dist").glob("*")]
        found = problems_of_dist(names, [target.tag for target in TARGETS], version(ROOT))
    else:
        found = problems_of_tag(arguments.tag, ROOT)
    for problem in found:
        print(problem, file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
