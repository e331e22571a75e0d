"""NPZ archives that are refused."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from trueness.files import Request, RowOptions, Source, find_inputs


def refuse(path: Path, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Source(find_inputs([str(path)]).files, Request(), RowOptions())


def test_archives_without_arrays_with_other_files_and_with_objects(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "none.npz", "w") as archive:
        archive.writestr("read.me", "nothing")
    refuse(tmp_path / "none.npz", "holds no arrays")
    np.savez(tmp_path / "more.npz", y_true=[0], y_prob=[[0.5, 0.5]])
    with zipfile.ZipFile(tmp_path / "more.npz", "a") as archive:
        archive.writestr("read.me", "more")
    refuse(tmp_path / "more.npz", "members that are not arrays")
    np.savez(tmp_path / "odd.npz", a=np.array([None], object))
    refuse(tmp_path / "odd.npz", "pickle")
