"""The command as a process of its own."""

import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "trueness"]


def run(*arguments: Any, folder: Path | None = None, code: int = 0) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stderr
    return ended
