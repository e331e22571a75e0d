"""Files of images in the command: NPY and NPZ arrays, and folders as nnU-Net writes them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.cli import main
from trueness.table.tables import Tables

pytestmark = pytest.mark.cli

N, C, H, W = 8, 3, 12, 10
Y_TRUE, Y_PROB = tn.simulate.calibrated(N * H * W, [1.0] * C, rng=0)
LABELS = Y_TRUE.reshape(N, H, W)
IMAGES = np.ascontiguousarray(np.moveaxis(Y_PROB.reshape(N, H, W, C), -1, 1)).astype(np.float32)
ROWS = Y_PROB.astype(np.float32)


def test_npy_and_npz(tmp_path: Path, capsys: Any) -> None:
    np.save(tmp_path / "p.npy", IMAGES)
    np.save(tmp_path / "y.npy", LABELS)
    np.savez(tmp_path / "both.npz", y_prob=IMAGES, y_true=LABELS)
    names = {file: [f"{file} {k}" for k in np.repeat(np.arange(N), H * W)] for file in ("p.npy", "both.npz")}
    for file, more in (("p.npy", ["--label-file", str(tmp_path / "y.npy")]), ("both.npz", [])):
        saved = str(tmp_path / "t.json")
        assert main(["tabulate", str(tmp_path / file), *more, "--class-axis", "1", "-o", saved]) == 0
        expected = tn.assess(Y_TRUE, ROWS, clusters=names[file], resamples=39).tables
        assert Tables.load(saved) == expected
    assert "each image is one cluster" in capsys.readouterr().err


def test_ignored_labels(tmp_path: Path) -> None:
    labels = LABELS.copy()
    labels[:, 0] = 9
    np.savez(tmp_path / "both.npz", y_prob=IMAGES, y_true=labels)
    saved = str(tmp_path / "t.json")
    arguments = [
        "tabulate",
        str(tmp_path / "both.npz"),
        "--class-axis",
        "1",
        "--ignore-index",
        "9",
        "-o",
        saved,
    ]
    assert main(arguments) == 0
    kept = labels.ravel() != 9
    assert Tables.load(saved).by_variation == tn.tabulate(Y_TRUE[kept], ROWS[kept])


def test_refusals(tmp_path: Path, capsys: Any) -> None:
    np.save(tmp_path / "p.npy", IMAGES)
    np.savez(tmp_path / "none.npz", other=LABELS)
    (tmp_path / "text.npy").write_text("no array")
    for arguments, cause in (
        ([str(tmp_path / "p.npy"), "--class-axis", "1"], "holds no labels"),
        ([str(tmp_path / "none.npz"), "--class-axis", "1"], "no array named"),
        ([str(tmp_path / "p.npy"), "--class-axis", "1", "--groups", "site"], "--groups does not apply"),
        ([str(tmp_path / "p.npy"), "--label-dir", "x"], "--label-dir applies to"),
        ([str(tmp_path), "--format", "nnunet"], "needs one folder"),
        ([str(tmp_path), "--format", "nnunet", "--label-dir", str(tmp_path)], "labels"),
    ):
        assert main(["assess", *arguments]) == 2
        assert cause in capsys.readouterr().err


def test_folders_of_nnunet(tmp_path: Path, capsys: Any) -> None:
    """Half precision, (classes, z, y, x), zeros outside the crop; labels as NIfTI, (x, y, z)."""
    nibabel = pytest.importorskip("nibabel")
    predictions, labels = tmp_path / "predictions", tmp_path / "labelsTr"
    predictions.mkdir()
    labels.mkdir()
    y_all, p_all, names = [], [], []
    for k in range(6):
        shape = (6 + k, 5, 4)
        y_true, y_prob = tn.simulate.calibrated(int(np.prod(shape)), [1.0] * 3, rng=k)
        voxels = y_prob.T.reshape(3, *shape).copy()
        voxels[:, :2] = 0  # outside
        half = voxels.transpose(0, 3, 2, 1).astype(np.float16)
        np.savez_compressed(predictions / f"case_{k}.npz", probabilities=half)
        image = nibabel.Nifti1Image(y_true.reshape(shape).astype(np.uint8), np.eye(4))
        nibabel.save(image, labels / f"case_{k}.nii.gz")
        rows = half.reshape(3, -1).T.astype(float)
        inside = rows.sum(axis=1) > 0
        y_all.append(y_true.reshape(shape).transpose().ravel()[inside])
        p_all.append(rows[inside] / rows[inside].sum(axis=1, keepdims=True))
        names += [f"case_{k}"] * int(inside.sum())
    found = tmp_path / "result.json"
    arguments = [str(predictions), "--format", "nnunet", "--label-dir", str(labels), "--json", str(found)]
    assert main(["assess", *arguments, "--resamples", "39"]) == 0
    expected = tn.assess(np.concatenate(y_all), np.concatenate(p_all), clusters=names, resamples=39)
    result = json.loads(found.read_text())
    assert result["n_clusters"] == 6
    assert result["p_value"] == expected.p_value
    assert result["vce"]["value"] == expected.vce.value
    said = capsys.readouterr().err
    assert "outside the crop, whose probabilities are all 0: " in said
    assert "half-precision" in said
    (labels / "case_0.nii.gz").unlink()
    assert main(["assess", *arguments]) == 2
    assert "case_0" in capsys.readouterr().err
