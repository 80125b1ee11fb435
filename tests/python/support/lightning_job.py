"""Runs Lightning's Trainer, for loader/test_ranks.py. The Trainer starts the second process.

    lightning_job.py FILE FOLDER

FOLDER/R has the ids of each batch that rank R received, as JSON: of two epochs of training and the
validation after them.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import pytorch_lightning as lightning
import torch

import fuelrail as fr


class Model(lightning.LightningModule):
    """A trivial model that records the ids of its batches."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.trained: list[list[int]] = []
        self.validated: list[list[int]] = []

    def training_step(self, batch: Any) -> torch.Tensor:
        (ids,) = batch
        self.trained.append(ids.tolist())
        loss: torch.Tensor = self.layer(ids[:, None].float()).mean()
        return loss

    def validation_step(self, batch: Any) -> None:
        ids, valid = batch
        self.validated.append(ids[valid].tolist())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.0)


def main() -> None:
    file, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    training = fr.torch.DataLoader(
        file, 8, shuffle=True, seed=1, last_batch="drop", fields=["id"], threads=1
    )
    validation = fr.torch.DataLoader(file, 8, last_batch="pad", fields=["id", "valid"], threads=1)
    model = Model()
    trainer = lightning.Trainer(
        devices=2, strategy="ddp", accelerator="cpu", max_epochs=2, check_val_every_n_epoch=2,
        num_sanity_val_steps=0, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(model, training, validation)
    said = {"trained": model.trained, "validated": model.validated}
    (folder / f"{trainer.global_rank}").write_text(json.dumps(said))


if __name__ == "__main__":
    main()
