"""Trains a network on ImageNet with plain PyTorch: folders of JPEG files, decoded by worker processes.

python train_pytorch.py FOLDER     FOLDER has the folders train and val, each with a folder per class

train_benzina.py is the same program on a `.bzna` file.
"""

from __future__ import annotations

import argparse
import time

import torch
import torchvision
from torchvision import transforms

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


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
    parser.add_argument("--workers", type=int, default=4, help="processes that load images")
    return parser.parse_args()


def loaders(
    args: argparse.Namespace,
) -> tuple[torch.utils.data.DataLoader, torch.utils.data.DataLoader]:
    normalize = transforms.Compose([transforms.ToTensor(), transforms.Normalize(MEAN, STD)])
    augment = transforms.Compose(
        [
            transforms.RandomResizedCrop(args.side, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3)),
            transforms.RandomHorizontalFlip(0.5),
            normalize,
        ]
    )
    crop = transforms.Compose(
        [transforms.Resize(args.side * 256 // 224), transforms.CenterCrop(args.side), normalize]
    )
    train = torchvision.datasets.ImageFolder(f"{args.data}/train", augment)
    val = torchvision.datasets.ImageFolder(f"{args.data}/val", crop)
    return (
        torch.utils.data.DataLoader(
            train, batch_size=args.batch_size, shuffle=True, num_workers=args.workers
        ),
        torch.utils.data.DataLoader(val, batch_size=args.batch_size, num_workers=args.workers),
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
