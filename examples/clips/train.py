"""A recurrent network on clips: SequenceSampler -> batches of consecutive frames -> a state that is kept from batch to batch.

python examples/clips/train.py

Each row of the batches reads one clip after the other, a frame a batch. The network says where a ball is, also behind a
curtain, where only its state knows. The state of a row is reset where the row begins another clip. A checkpoint has the
place in each row's clip: run the program again with more steps, and it continues as if it had not stopped.
"""

from __future__ import annotations

import argparse
import pathlib

import numpy as np
import torch
from balls import SIDE, Balls
from PIL import Image
from torch import nn

import fuelrail as fr
from fuelrail import transforms as T
from fuelrail.inputs import SequenceSampler

ROWS = 8  # clips that are read at once
FRAMES = 8  # of each step; gradients do not go further back
REPORT = 20  # steps between two checkpoints
WIDTH = 64  # numbers in the state of a row


def frames(clips: Balls) -> fr.torch.DataLoader:
    """Batches of one frame of each row. They never end."""
    sampler = SequenceSampler(ROWS, clips.lengths, seed=1)
    return fr.torch.DataLoader(
        clips, batch_sampler=sampler, as_dict=True, transforms=[T.CenterCrop(SIDE)]
    )


class Follower(nn.Module):
    """Where the ball is, from a frame and the state, which has what the frames before have shown."""

    def __init__(self) -> None:
        super().__init__()
        self.see = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16 * 6 * 6, WIDTH),
        )
        self.remember = nn.GRUCell(WIDTH, WIDTH)
        self.say = nn.Linear(WIDTH, 2)

    def forward(
        self, images: torch.Tensor, state: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        state = self.remember(self.see(images), state)
        return self.say(state), state


def train(clips: Balls, steps: int, checkpoint: pathlib.Path) -> None:
    """Trains until `steps` steps are done, those of the checkpoint included."""
    torch.manual_seed(0)
    model = Follower()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    state = torch.zeros(ROWS, WIDTH)
    done = 0
    with frames(clips) as batches:
        if checkpoint.exists():
            saved = torch.load(checkpoint, weights_only=True)
            model.load_state_dict(saved["model"])
            optimizer.load_state_dict(saved["optimizer"])
            batches.load_state_dict(saved["batches"])
            state, done = saved["state"], saved["done"]
        following = iter(batches)
        errors: list[torch.Tensor] = []
        hidden: list[torch.Tensor] = []
        while done < steps:
            loss = torch.zeros(())
            for _ in range(FRAMES):
                batch = next(following)
                state = state * (batch["frame"] > 0)[:, None]  # forgets the clip before
                found, state = model(batch["image"], state)
                error = (found - batch["place"]).square().sum(1)
                loss = loss + error.mean() / FRAMES
                errors.append(error.detach())
                hidden.append(batch["hidden"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            state = state.detach()
            done += 1
            if done % REPORT == 0:
                squares, behind = torch.cat(errors), torch.cat(hidden)
                errors, hidden = [], []
                print(
                    f"  step {done}/{steps}  loss {squares.mean():.4f}  error of balls in sight "
                    f"{squares[~behind].mean().sqrt():.3f}, of hidden balls "
                    f"{squares[behind].mean().sqrt():.3f}",
                    flush=True,
                )
                checkpointed = {
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "batches": batches.state_dict(),
                    "state": state,
                    "done": done,
                }
                torch.save(checkpointed, checkpoint)


def show_rows(clips: Balls, picture: pathlib.Path, columns: int = 30, zoom: int = 2) -> None:
    """Saves the first batches, one a column, with a line where a row begins another clip."""
    cell = zoom * SIDE + 4
    sheet = np.full((ROWS * cell + 4, columns * cell + 4, 3), 255, np.uint8)
    with frames(clips) as batches:
        for column, batch in zip(range(columns), batches):  # noqa: B905
            pixels = (batch["image"] * 255).round().byte().permute(0, 2, 3, 1).numpy()
            for row in range(ROWS):
                y, x = 4 + row * cell, 4 + column * cell
                tile = pixels[row].repeat(zoom, 0).repeat(zoom, 1)
                sheet[y : y + zoom * SIDE, x : x + zoom * SIDE] = tile
                if batch["frame"][row] == 0:
                    sheet[y : y + zoom * SIDE, x - 4 : x] = (0, 90, 255)
    Image.fromarray(sheet).save(picture)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("demo-out/clips"))
    parser.add_argument("--steps", type=int, default=600)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    show_rows(Balls(), options.out / "batches.png")
    train(Balls(), options.steps, options.out / "checkpoint.pt")


if __name__ == "__main__":
    main()
