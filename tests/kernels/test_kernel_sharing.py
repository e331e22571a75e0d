"""Jobs shared by threads are done once each, and no thread reads what another one is writing."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("sharing.c")
UNORDERED = [
    flag
    for order in ("__ATOMIC_RELEASE", "__ATOMIC_ACQ_REL")
    for flag in (f"-U{order}", f"-D{order}=__ATOMIC_RELAXED")
]
"""Flags that take away the order of what is written before a job is posted or done."""


@pytest.mark.build
def test_no_race(tmp_path: Path) -> None:
    """By gcc's sanitizer; first, what it must find."""
    import hatch_build

    target = hatch_build.host()
    assert target is not None

    def run(*flags: str) -> subprocess.CompletedProcess[str]:
        command = ["gcc", "-std=gnu11", "-O1", "-g1", "-fsanitize=thread", "-pthread", *flags]
        command += [*hatch_build.PROCESSOR_FLAGS[target.processor], f"-I{hatch_build.source_folder(ROOT)}"]
        subprocess.run([*command, str(PROGRAM), "-o", str(tmp_path / "program")], check=True)
        ended = [str(tmp_path / "program")]
        return subprocess.run(ended, capture_output=True, text=True, check=False, timeout=300)

    assert "ThreadSanitizer: data race" in run(*UNORDERED).stderr
    ended = run()
    assert (ended.returncode, ended.stderr) == (0, "")
