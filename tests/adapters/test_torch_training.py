"""Metrics in a training loop and in Lightning."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_metrics import metric_of, torch_only

import trueness as tn


def digits() -> Any:
    import torch
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    x, y = torch.tensor(x[order] / 16, dtype=torch.float32), torch.tensor(y[order])
    return (x[:1200], y[:1200]), (x[1200:], y[1200:])


@torch_only
@pytest.mark.adapters
@pytest.mark.filterwarnings("ignore")  # Lightning has advice on workers, loggers and checkpoints
def test_lightning_logs_it_each_epoch_and_resumes(tmp_path: Path) -> None:
    import lightning
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    train, held_out = digits()

    class Net(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(64, 10)
            self.vce = metric_of(num_classes=10, from_logits=True)
            self.ece = metric_of("ExpectedCalibrationError", 10, from_logits=True)
            self.seen: list[float] = []

        def training_step(self, batch: Any, _: int) -> Any:
            return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

        def validation_step(self, batch: Any, _: int) -> None:
            logits = self.layer(batch[0])
            self.vce.update(logits, batch[1])
            self.ece.update(logits, batch[1])
            self.log("vce", self.vce, on_epoch=True)
            self.log("ece", self.ece, on_epoch=True)

        def on_validation_epoch_end(self) -> None:
            self.seen.append(self.vce.table.n_rows)

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), 0.01)

    def trained(epochs: int, checkpoint: Path | None = None) -> tuple[Any, Any]:
        lightning.seed_everything(0, verbose=False)
        model = Net()
        trainer = lightning.Trainer(
            max_epochs=epochs,
            accelerator="cpu",
            precision="bf16-mixed",
            logger=False,
            default_root_dir=tmp_path,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
        )
        loaders = (DataLoader(TensorDataset(*part), batch_size=64) for part in (train, held_out))
        trainer.fit(model, *loaders, ckpt_path=checkpoint, weights_only=False)
        return model, trainer

    model, trainer = trained(2)
    assert model.seen == [len(held_out[1])] * 2
    # The last weights, outside of the trainer but in the precision it used.
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        logits = torch.cat([model.layer(part) for part in held_out[0].split(64)])
    assert trainer.callback_metrics["vce"].item() == pytest.approx(
        tn.vce(held_out[1], logits, from_logits=True), abs=1e-6
    )
    assert trainer.callback_metrics["ece"].item() == pytest.approx(
        tn.ece(held_out[1], logits, from_logits=True), abs=1e-6
    )
    trainer.save_checkpoint(tmp_path / "after-two.ckpt")
    resumed, trainer = trained(3, tmp_path / "after-two.ckpt")
    assert resumed.seen == [len(held_out[1])]
    assert 0 < trainer.callback_metrics["vce"].item() < 0.5
