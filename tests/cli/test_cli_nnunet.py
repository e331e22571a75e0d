"""Folders as nnU-Net v2 writes them: which voxel of the labels belongs to which voxel of the probabilities.

Each case is made from one volume in the axes of its NIfTI file, (x, y, z). nibabel and NumPy write the files in
the way of nnU-Net's readers: `array.transpose()` of the stored voxels. The oracle is the volume itself.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import trueness as tn
from trueness.cli import main
from trueness.old_table import Tables

N_CLASSES = 3


class Volume(NamedTuple):
    """Labels (x, y, z) and probabilities (classes, x, y, z), in the axes of the NIfTI file."""

    labels: NDArray[Any]
    probabilities: NDArray[Any]


def volume(shape: tuple[int, ...], seed: int = 0, dtype: Any = np.float32) -> Volume:
    y_true, y_prob = tn.simulate.calibrated(int(np.prod(shape)), [1.0] * N_CLASSES, rng=seed)
    return Volume(y_true.reshape(shape), y_prob.T.reshape(N_CLASSES, *shape).astype(dtype))


class Folders(NamedTuple):
    """The folders of predictions and of labels."""

    predictions: Path
    labels: Path

    def write(
        self,
        name: str,
        labels: NDArray[Any],
        probabilities: NDArray[Any],
        ending: str = ".nii.gz",
    ) -> None:
        import nibabel

        image = nibabel.Nifti1Image(labels.astype(np.uint8), np.eye(4))
        nibabel.save(image, self.labels / f"{name}{ending}")
        np.savez_compressed(self.predictions / f"{name}.npz", probabilities=probabilities)
        (self.predictions / f"{name}.pkl").write_bytes(b"cos\nsystem\n(S'false'\ntR.")  # must never be loaded

    def arguments(self, *more: str) -> list[str]:
        read = [str(self.predictions), "--format", "nnunet", "--label-dir", str(self.labels)]
        return ["assess", *read, "--resamples", "39", *more]


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    made = Folders(tmp_path / "predictions", tmp_path / "labelsTr")
    for folder in made:
        folder.mkdir()
    return made


def reversed_axes(probabilities: NDArray[Any]) -> NDArray[Any]:
    """(classes, x, y, z) as nnU-Net saves them, (classes, z, y, x)."""
    return probabilities.transpose(0, *range(probabilities.ndim - 1, 0, -1))


def rows_of(given: Volume) -> tuple[NDArray[Any], NDArray[Any]]:
    """Labels and probabilities, one row for each voxel."""
    return given.labels.ravel(), given.probabilities.reshape(N_CLASSES, -1).T


def table_of(folders: Folders, *more: str) -> tn.CalibrationTable:
    saved = folders.predictions.parent / "tables.json"
    assert main([*folders.arguments("--table-out", str(saved)), *more]) == 0
    found = Tables.load(saved).by_variation
    assert isinstance(found, tn.CalibrationTable)
    return found


def expected_table(volumes: list[Volume]) -> tn.CalibrationTable:
    return sum((tn.tabulate(*rows_of(each)) for each in volumes[1:]), tn.tabulate(*rows_of(volumes[0])))


SHAPES = {
    "different": (6, 5, 4),
    "cube": (5, 5, 5),
    "palindrome": (5, 4, 5),
    "slice": (6, 5, 1),
    "plane": (6, 5),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
def test_labels_are_reversed_like_images(folders: Folders, shape: tuple[int, ...], ending: str) -> None:
    """A NIfTI file of two dimensions is a volume of one slice, (classes, 1, y, x)."""
    volumes = [volume(shape, seed) for seed in range(6)]
    for k, given in enumerate(volumes):
        saved = reversed_axes(given.probabilities)
        saved = saved[:, None] if len(shape) == 2 else saved
        folders.write(f"case_{k}", given.labels, saved, ending=ending)
    assert table_of(folders) == expected_table(volumes)


def test_half_precision_and_zeros_outside_the_crop(folders: Folders, capsys: Any) -> None:
    """Rows over their sums, voxels of zeros left out and counted, each case one cluster: the numbers of the library."""
    y_all, p_all, names = [], [], []
    for k in range(6):
        given = volume((6 + k, 5, 4), k, np.float16)
        given.probabilities[:, :2] = 0
        folders.write(f"case_{k}", given.labels, reversed_axes(given.probabilities))
        y_true, y_prob = rows_of(given)
        inside = y_prob.any(axis=1)
        wide = y_prob[inside].astype(float)
        y_all.append(y_true[inside])
        p_all.append(wide / wide.sum(axis=1, keepdims=True))
        names += [f"case_{k}"] * int(inside.sum())
    found, report = folders.labels / "result.json", folders.labels / "report.html"
    assert main(folders.arguments("--json", str(found), "--report", str(report))) == 0
    expected = tn.assess(np.concatenate(y_all), np.concatenate(p_all), clusters=names, resamples=39)
    result = json.loads(found.read_text())
    assert result["n_clusters"] == 6
    assert result["p_value"] == expected.p_value
    assert result["vce"]["value"] == expected.vce.value
    said = capsys.readouterr().err
    assert "outside the crop, whose probabilities are all 0: 240" in said
    cautions = {each["code"]: each["message"] for each in result["warnings"]}
    assert {"half-precision", "outside-crop", "clusters-by-first-index"} <= set(cautions)
    assert "half precision are divided by their sum" in report.read_text()


def test_single_precision_is_not_divided(folders: Folders, capsys: Any) -> None:
    given = volume((6, 5, 4))
    folders.write("case", given.labels, reversed_axes(given.probabilities))
    assert main(folders.arguments("--clusters", "none")) == 0
    assert "half" not in capsys.readouterr().err


def test_an_ignored_label(folders: Folders, capsys: Any) -> None:
    given = volume((6, 5, 4))
    labels = given.labels.copy()
    labels[0] = N_CLASSES
    folders.write("case", labels, reversed_axes(given.probabilities))
    table = table_of(folders, "--clusters", "none", "--ignore-index", str(N_CLASSES))
    assert table == tn.tabulate(given.labels[1:].ravel(), given.probabilities[:, 1:].reshape(N_CLASSES, -1).T)
    assert "pixels with the ignored label: 20" in capsys.readouterr().err


def test_regions_are_refused(folders: Folders, capsys: Any) -> None:
    """Their probabilities are sigmoids, whose sums are not 1."""
    given = volume((6, 5, 4), dtype=np.float16)
    folders.write("case", given.labels, reversed_axes(given.probabilities * np.float16(0.7)))
    assert main(folders.arguments()) == 2
    assert "sum" in capsys.readouterr().err


def test_refusals(folders: Folders, capsys: Any) -> None:
    given = volume((6, 5, 4))
    folders.write("a", given.labels, reversed_axes(given.probabilities))
    folders.write("b", given.labels[:-1], reversed_axes(given.probabilities))
    assert main(folders.arguments()) == 2
    said = capsys.readouterr().err
    assert "'b' have shape (3, 4, 5, 6), and its labels (5, 5, 4)" in said
    (folders.labels / "b.nii.gz").unlink()
    assert main(folders.arguments()) == 2
    assert "of case 'b' do not exist" in capsys.readouterr().err
    (folders.predictions / "b.npz").write_bytes(b"PK")
    (folders.labels / "b.nii").write_bytes(b"no image")
    assert main(folders.arguments()) == 2
    assert "b.npz cannot be read" in capsys.readouterr().err
    np.savez(folders.predictions / "b.npz", probabilities=reversed_axes(given.probabilities))
    assert main(folders.arguments()) == 2
    assert "b.nii cannot be read" in capsys.readouterr().err
    np.savez(folders.predictions / "b.npz", other=given.probabilities)
    folders.write("c", given.labels, reversed_axes(given.probabilities))
    assert main(folders.arguments()) == 2
    assert "b.npz has no array named probabilities or softmax" in capsys.readouterr().err


def test_compare_folders(folders: Folders, capsys: Any) -> None:
    """Two models of the same cases; a voxel that only one of them leaves out is refused."""
    volumes = [volume((6, 5, 4), k) for k in range(12)]
    other = folders._replace(predictions=folders.labels.parent / "sharp")
    other.predictions.mkdir()
    for k, given in enumerate(volumes):
        folders.write(f"case_{k}", given.labels, reversed_axes(given.probabilities))
        sharp = (given.probabilities**2 / (given.probabilities**2).sum(axis=0)).astype(np.float32)
        other.write(f"case_{k}", given.labels, reversed_axes(sharp))
    both = [str(folders.predictions), str(other.predictions)]
    arguments = [
        "compare",
        *both,
        "--format",
        "nnunet",
        "--label-dir",
        str(folders.labels),
        "--resamples",
        "199",  # of 39, no p-value is small enough with so few clusters
    ]
    assert main(arguments) == 0
    assert "predictions is better calibrated than sharp" in capsys.readouterr().out
    crop = volumes[2].probabilities.copy()
    crop[:, 0] = 0
    labels = np.zeros_like(volumes[2].labels)  # alike, so that labels do not show it
    folders.write("case_2", labels, reversed_axes(volumes[2].probabilities))
    other.write("case_2", labels, reversed_axes(crop))
    assert main(arguments) == 2
    assert "leave out different pixels" in capsys.readouterr().err
