"""The gate: which assessments end with exit code 1."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.cli import main


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("--fail-above 0.05", 1),
        ("--fail-above 0.9", 0),
        ("--fail-below-p 0.01", 1),
        ("--fail-below-p 0.01 --groups site", 1),
        ("--fail-below-p 0.001 --resamples 100", 1),
        ("--fail-above vce=.9,ece=.9,rce=.9,net=.9", 0),
        ("--fail-above vce=.9,ece=.01", 1),
        ("--fail-above RCE=.01", 1),
        ("--fail-above net=.01 --lower-end", 1),
        ("--fail-above 0.16", 1),
        ("--fail-above 0.16 --lower-end", 0),
        ("--fail-above vcx=.1", 2),
        ("--fail-above vce=.1,vce=.2", 2),
        ("--fail-above vce=", 2),
        ("--fail-above .1,.2", 2),
        ("--fail-above =.5", 2),
        ("--level .9999", 2),
        ("--resamples 10", 2),
        ("--lower-end", 2),
        ("--tolerance x", 2),
        ("--tolerance vce=.1,ece=.1", 0),
        ("--fail-below-p 1e-6", 2),
        ("--fail-below-p 0", 2),
    ],
)
def test_exit_codes(npz: str, options: str, code: int, capsys: Any) -> None:
    assert main(["assess", npz, *options.split()]) == code
    message = capsys.readouterr().err
    assert ("gate failed" in message) == (code == 1)


def test_a_gate_at_a_small_limit_can_fail(npz: str, capsys: Any) -> None:
    """By default 999 draws: their smallest p-value is 0.001, and a gate at 0.0001 would never fail."""
    assert main(["assess", npz, "--fail-below-p", "0.0001"]) == 1
    assert main(["assess", npz, "--fail-below-p", "0.0001", "--groups", "site"]) == 1
    assert "gate failed: group '1'" in capsys.readouterr().err


def test_a_model_that_is_forty_percentage_points_off_fails(tmp_path: Path, capsys: Any) -> None:
    """p = .3 where the rate is .7: VCE does not detect swapped ranks, other metrics do."""
    path = tmp_path / "off.npz"
    np.savez(path, y_true=(np.arange(20_000) % 10 < 7).astype(int), y_prob=np.tile([0.7, 0.3], (20_000, 1)))
    assert main(["assess", str(path), "--fail-below-p", ".001", "--fail-above", ".05"]) == 1
    assert "all rows: p = " in capsys.readouterr().err
    assert main(["assess", str(path), "--fail-above", "vce=.05,ece=.05,rce=.05"]) == 1
    message = capsys.readouterr().err
    assert "debiased ECE 0.4 is above 0.05" in message
    assert "debiased RCE 0.4 is above 0.05" in message


def test_an_undecided_gate_fails(tmp_path: Path, capsys: Any) -> None:
    """Sixty groups at 1e-5 need more resamples than there can be; in the wrong one, none is as extreme as the data."""
    y_true, y_prob = tn.simulate.calibrated(6000, [1.0, 1.0], rng=0)
    y_prob[:100] = 0.98 * np.eye(2)[1 - y_true[:100]] + 0.01
    path = tmp_path / "groups.npz"
    np.savez(path, y_true=y_true, y_prob=y_prob, g=np.repeat(np.arange(60), 100))
    assert main(["assess", str(path), "--groups", "g", "--bins", "2", "--fail-below-p", "1e-5"]) == 1
    assert "gate failed: " in capsys.readouterr().err


def test_nothing_is_written_if_a_limit_is_on_a_missing_metric(npz: str, tmp_path: Path) -> None:
    arrays = np.load(npz)
    saved, out = tmp_path / "t.json", tmp_path / "r.json"
    tn.tabulate(arrays["y_true"], arrays["y_prob"]).save(saved)
    assert main(["assess", str(saved), "--fail-above", "ece=.5", "--json", str(out)]) == 2
    assert not out.exists()
