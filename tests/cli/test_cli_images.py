"""Files of images in the command: NPY and NPZ arrays, and folders as nnU-Net writes them."""

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from close_tables import assert_close

import trueness as tn
from trueness.cli import main
from trueness.files.mapped_arrays import array_in
from trueness.old_table.tables import Tables

N, C, H, W = 8, 3, 12, 10
Y_TRUE, Y_PROB = tn.simulate.calibrated(N * H * W, [1.0] * C, rng=0)
LABELS = Y_TRUE.reshape(N, H, W)
IMAGES = np.ascontiguousarray(np.moveaxis(Y_PROB.reshape(N, H, W, C), -1, 1)).astype(np.float32)
ROWS = Y_PROB.astype(np.float32)


def test_refusals(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)  # messages shorten long paths
    np.save(tmp_path / "p.npy", IMAGES)
    np.savez(tmp_path / "none.npz", other=LABELS)
    (tmp_path / "text.npy").write_text("no array")
    for arguments, cause in (
        ([str(tmp_path / "p.npy"), "--class-axis", "1"], "holds no labels"),
        ([str(tmp_path / "none.npz"), "--class-axis", "1"], "no array named"),
        ([str(tmp_path / "p.npy"), "--class-axis", "1", "--groups", "site"], "--groups does not apply"),
        ([str(tmp_path / "p.npy"), "--label-dir", "x"], "--label-dir applies to"),
        ([str(tmp_path), "--format", "nnunet"], "needs a folder"),
        (["nowhere", "--format", "nnunet", "--label-dir", "x"], "the folder 'nowhere' does not exist"),
        (
            [str(tmp_path), "--format", "nnunet", "--label-dir", "nowhere"],
            "the folder 'nowhere' does not exist",
        ),
        (["p.npy", "--format", "nnunet", "--label-dir", "x"], "'p.npy' is not a folder"),
        ([str(tmp_path), "--format", "nnunet", "--label-dir", str(tmp_path)], "of case 'none' do not exist"),
    ):
        assert main(["assess", *arguments]) == 2
        assert cause in capsys.readouterr().err


def test_compare_models_on_images(tmp_path: Path, capsys: Any) -> None:
    """The pairs of `tn.compare` of the same arrays, from NPY files with common labels and from NPZ files."""
    labels = LABELS.copy()
    labels[:, 0] = 9
    sharp = np.ascontiguousarray(
        np.moveaxis(tn.simulate.sharpen(Y_PROB, 1.5).reshape(N, H, W, C), -1, 1)
    ).astype(np.float32)
    np.save(tmp_path / "y.npy", labels)
    for name, array in (("plain", IMAGES), ("sharp", sharp)):
        np.save(tmp_path / f"{name}.npy", array)
        np.savez(tmp_path / f"{name}.npz", y_prob=array, y_true=labels)
    names = [f"plain.npy {k}" for k in range(N)]
    how: dict[str, Any] = {"class_axis": 1, "ignore_index": 9, "resamples": 39}
    models = {"plain": IMAGES, "sharp": sharp}
    expected = tn.compare(labels, models, clusters=names, **how)
    axes = ["--class-axis", "1", "--ignore-index", "9", "--resamples", "39"]
    found = tmp_path / "pairs.json"
    files = [str(tmp_path / "plain.npy"), str(tmp_path / "sharp.npy")]
    more = ["--label-file", str(tmp_path / "y.npy"), "--json", str(found)]
    assert main(["compare", *files, *axes, *more]) == 0
    assert json.loads(found.read_text())["pairs"] == json.loads(json.dumps(expected.to_dict()["pairs"]))
    printed, left_out = capsys.readouterr(), N * W
    assert printed.err.count("pixels of an image are one cluster") == 2
    assert (
        f"skipped {left_out} of {N * H * W} rows:\n  pixels with the ignored label: {left_out}" in printed.err
    )
    assert f"left out {left_out} pixels with the ignored label" in printed.out
    assert main(["compare", *files, *axes, *more, "--clusters", "none"]) == 0
    independent = tn.compare(labels, models, clusters=False, **how).to_dict()["pairs"]
    assert json.loads(found.read_text())["pairs"] == json.loads(json.dumps(independent))
    archives = [file.replace(".npy", ".npz") for file in files]
    assert main(["compare", *archives, *axes, "--json", str(found)]) == 0
    assert main(["compare", files[0], archives[1], *axes]) == 2
    assert "holds no labels" in capsys.readouterr().err


def test_pixels_that_are_independent(tmp_path: Path, capsys: Any) -> None:
    np.savez(tmp_path / "both.npz", y_prob=IMAGES, y_true=LABELS)
    saved = str(tmp_path / "t.json")
    arguments = ["tabulate", str(tmp_path / "both.npz"), "--class-axis", "1", "-o", saved]
    assert main([*arguments, "--clusters", "none"]) == 0
    assert Tables.load(saved).clusters is None
    assert "one cluster" not in capsys.readouterr().err
    assert main([*arguments, "--clusters", "patient"]) == 2
    assert "names a column, and images have none" in capsys.readouterr().err


def test_what_was_assumed_is_in_the_result(tmp_path: Path, capsys: Any) -> None:
    """Also in the report; an image of ignored pixels alone is counted too."""
    labels = LABELS.copy()
    labels[3] = 9
    np.savez(tmp_path / "both.npz", y_prob=IMAGES, y_true=labels)
    found, report = tmp_path / "result.json", tmp_path / "report.html"
    arguments = [str(tmp_path / "both.npz"), "--class-axis", "1", "--ignore-index", "9", "--resamples", "39"]
    assert main(["assess", *arguments, "--json", str(found), "--report", str(report)]) == 0
    cautions = {each["code"]: each["message"] for each in json.loads(found.read_text())["warnings"]}
    assert "pixels of an image are one cluster" in cautions["clusters-by-first-index"]
    assert cautions["ignored"] == f"left out {H * W} pixels with the ignored label"
    assert "pixels of an image are one cluster" in report.read_text()
    np.savez(tmp_path / "none.npz", y_prob=IMAGES[:1], y_true=np.full((1, H, W), 9))
    files = [str(tmp_path / "both.npz"), str(tmp_path / "none.npz")]
    assert main(["assess", *files, *arguments[1:]]) == 0
    assert f"pixels with the ignored label: {2 * H * W}" in capsys.readouterr().err


def test_scales_of_images(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", y_prob=IMAGES.astype(float), y_true=LABELS)
    for option, array in (
        ("--percent", 100.0 * IMAGES.astype(float)),
        ("--logprobs", np.log(IMAGES.astype(float))),
    ):
        np.savez(tmp_path / "scaled.npz", y_prob=array, y_true=LABELS)
        arguments = [str(tmp_path / "scaled.npz"), "--class-axis", "1", "-o", str(tmp_path / "t.json")]
        assert main(["tabulate", *arguments, option]) == 0
        table = Tables.load(tmp_path / "t.json").by_variation
        assert table.n_rows == LABELS.size
        assert_close(table, tn.tabulate(LABELS, IMAGES.astype(float), class_axis=1))


@pytest.mark.parametrize(
    ("more", "cause"),
    [
        (["--where", "a > 1"], "--where does not apply to images"),
        (["--class-axis", "7"], "--class-axis must be"),
        (["--ignore-index", "9", "--class-axis", "2"], "the label has shape"),
        (["--format", "nnunet", "--label-dir", "x"], "--class-axis does not apply to --format nnunet"),
    ],
)
def test_refusals_name_options(tmp_path: Path, capsys: Any, more: list[str], cause: str) -> None:
    np.savez(tmp_path / "p.npz", y_prob=IMAGES, y_true=LABELS)
    assert main(["assess", str(tmp_path / "p.npz"), "--class-axis", "1", *more]) == 2
    said = capsys.readouterr().err
    assert cause in said
    assert "class_axis" not in said


def test_one_file_of_labels_belongs_to_one_file(tmp_path: Path, capsys: Any) -> None:
    for name in ("a", "b", "y"):
        np.save(tmp_path / f"{name}.npy", LABELS if name == "y" else IMAGES)
    files = [str(tmp_path / "a.npy"), str(tmp_path / "b.npy"), "--label-file", str(tmp_path / "y.npy")]
    assert main(["assess", *files, "--class-axis", "1"]) == 2
    assert "--label-file can only be used with a single NPY file" in capsys.readouterr().err


def test_arrays_of_npz_files(tmp_path: Path, capsys: Any) -> None:
    """Stored arrays are mapped, compressed ones read: the same table, also column by column; damage is refused."""
    tables = []
    by_columns = np.asfortranarray(IMAGES)
    for name, save, array in (
        ("stored", np.savez, IMAGES),
        ("compressed", np.savez_compressed, IMAGES),
        ("columns", np.savez, by_columns),
    ):
        path = tmp_path / f"{name}.npz"
        save(path, y_prob=array, y_true=LABELS)
        found = array_in(str(path), "y_prob")
        assert isinstance(found, np.memmap) == (name != "compressed")
        assert np.array_equal(found, IMAGES)
        assert main(["tabulate", str(path), "--class-axis", "1", "-o", str(tmp_path / "t.json")]) == 0
        tables.append(Tables.load(tmp_path / "t.json").by_variation)
    assert tables[0] == tables[1] == tables[2] == tn.tabulate(Y_TRUE, ROWS)
    capsys.readouterr()
    for name in ("stored", "compressed"):
        path = tmp_path / f"{name}.npz"
        content = bytearray(path.read_bytes())
        content[2000] ^= 1
        path.write_bytes(content)
        assert main(["assess", str(path), "--class-axis", "1"]) == 2
        assert f"{name}.npz cannot be read" in capsys.readouterr().err
    np.savez(tmp_path / "objects.npz", y_prob=np.array([{}]), y_true=LABELS)
    assert main(["assess", str(tmp_path / "objects.npz"), "--class-axis", "1"]) == 2
    assert "which are never read" in capsys.readouterr().err


def test_without_an_axis_of_images_a_file_is_one_image(tmp_path: Path, capsys: Any) -> None:
    paths = [tmp_path / f"{k}.npz" for k in range(N)]
    for path, image, labels in zip(paths, IMAGES, LABELS, strict=True):
        np.savez(path, y_prob=image, y_true=labels)
    assert main(["assess", *map(str, paths), "--class-axis", "0", "--json", str(tmp_path / "r.json")]) == 0
    assert f"{N} clusters" in capsys.readouterr().out
    assert main(["assess", str(paths[0]), "--class-axis", "0"]) == 2
    assert "at least 5 are needed" in capsys.readouterr().err


@pytest.mark.parametrize("shape", [(10**9, C, H, W), (1, 1, 1, 1)])
def test_a_compressed_array_of_another_size_than_stated(
    tmp_path: Path, shape: tuple[int, ...], capsys: Any
) -> None:
    """It is refused before memory of the stated size is taken."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    path = tmp_path / "p.npz"
    np.savez_compressed(path, y_true=LABELS)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("y_prob.npy", stream.getvalue() + b"\0" * 1000)
    assert main(["assess", str(path), "--class-axis", "1"]) == 2
    assert "bytes, but the array has 1000" in capsys.readouterr().err


def test_a_compressed_size_that_no_file_has(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    np.savez_compressed(path, y_prob=np.zeros((1000, 1000)))
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        (info,) = archive.infolist()
    assert info.file_size <= 1032 * info.compress_size  # zeros, the most that can be compressed, are read
    assert array_in(str(path), "y_prob").shape == (1000, 1000)
    at = content.rindex(struct.pack("<II", info.compress_size, info.file_size))
    content[at : at + 4] = struct.pack("<I", info.compress_size // 8)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="cannot hold"):
        array_in(str(path), "y_prob")
