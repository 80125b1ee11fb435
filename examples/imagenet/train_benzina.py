"""Trains a network on ImageNet with Benzina's API: one `.bzna` file of H.265 stills.

python train_benzina.py X.bzna     a file that `fuelrail pack train=... validation=... X.bzna` wrote, or Benzina's own

train_pytorch.py is the same program on folders of JPEG files. Besides the data, two things differ: Benzina draws the logarithm
of a crop's scale uniformly, and does not antialias images that are reduced.
"""

from __future__ import annotations

import argparse
import time

import torch
import torchvision

import fuelrail.benzina.torch as bz
import fuelrail.benzina.torch.operations as ops

MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", help="the dataset")
    parser.add_argument("--arch", default="resnet18", help="a model of torchvision.models")
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--side", type=int, default=224, help="pixels of an image's side")
    parser.add_argument(
        "--steps", type=int, default=None, help="batches of each pass; default: all"
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def loaders(
    args: argparse.Namespace,
) -> tuple[torch.utils.data.DataLoader, torch.utils.data.DataLoader]:
    normalize = {
        "bias_transform": ops.ConstantBiasTransform(MEAN),
        "norm_transform": ops.ConstantNormTransform.from_std(STD),
        "device": args.device,
    }
    augment = ops.SimilarityTransform(
        scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3), flip_h=0.5, random_crop=True
    )
    train = bz.dataset.ImageNet(args.data, split="train")
    val = bz.dataset.ImageNet(args.data, split="val")
    return (
        bz.DataLoader(
            train,
            args.side,
            batch_size=args.batch_size,
            shuffle=True,
            seed=args.seed,
            warp_transform=augment,
            **normalize,
        ),
        bz.DataLoader(
            val,
            args.side,
            batch_size=args.batch_size,
            warp_transform=ops.CenterResizedCrop(224 / 256),
            **normalize,
        ),
    )


def run(
    model: torch.nn.Module,
    loader: torch.utils.data.DataLoader,
    args: argparse.Namespace,
    optimizer: torch.optim.Optimizer | None,
) -> str:
    """Trains for an epoch, or evaluates without an optimizer. Returns loss, accuracy and speed."""
    model.train(optimizer is not None)
    loss_sum, correct, samples, begin = 0.0, 0, 0, time.perf_counter()
    with torch.set_grad_enabled(optimizer is not None):
        for step, (images, target) in enumerate(loader):
            if step == args.steps:
                break
            images, target = images.to(args.device), target.to(args.device)
            output = model(images)
            loss = torch.nn.functional.cross_entropy(output, target)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            loss_sum += loss.item() * len(target)
            correct += (output.argmax(1) == target).sum().item()
            samples += len(target)
    seconds = time.perf_counter() - begin
    return (
        f"loss {loss_sum / samples:.4f}, accuracy {100 * correct / samples:.2f} %, "
        f"{samples} samples, {samples / seconds:.0f} per second"
    )


def main() -> None:
    args = arguments()
    torch.manual_seed(args.seed)
    model = torchvision.models.get_model(args.arch, num_classes=args.classes).to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 30)
    train_loader, val_loader = loaders(args)
    for epoch in range(args.epochs):
        print(f"epoch {epoch} train: {run(model, train_loader, args, optimizer)}", flush=True)
        print(f"epoch {epoch} val:   {run(model, val_loader, args, None)}", flush=True)
        schedule.step()


if __name__ == "__main__":
    main()
