"""`fuelrail pack --from`, compared with other readers of the same annotations."""

from __future__ import annotations

import json
import pathlib
import random
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco_mask
from pycocotools.coco import COCO

import fuelrail as fr
from page import code_of
from photographs import encoded, photograph


def pack(*arguments: object) -> None:
    assert fr._core.cli_main(["fuelrail", "pack", "--quiet", *map(str, arguments)]) == 0


def polygons(height: int, width: int) -> list[list[float]]:
    def polygon() -> list[float]:
        corners = random.randint(3, 9)
        return [
            round(random.uniform(-3, (width, height)[i % 2] + 3), 2) for i in range(2 * corners)
        ]

    return [polygon() for _ in range(random.randint(1, 3))]


def runs(height: int, width: int, compressed: bool) -> dict[str, Any]:
    pixels = np.zeros((height, width), np.uint8)
    top, left = random.randrange(height), random.randrange(width)
    pixels[top : top + 9, left : left + 13] = 1
    if compressed:
        encoded_runs = coco_mask.encode(np.asfortranarray(pixels))
        return {"size": [height, width], "counts": encoded_runs["counts"].decode()}
    flat = np.concatenate([[0], pixels.ravel(order="F"), [2]]).astype(int)
    edges = np.flatnonzero(np.diff(flat))
    return {"size": [height, width], "counts": np.diff(np.concatenate([[0], edges])).tolist()}


def coco_files(folder: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """Annotations of 12 images, whose objects have segmentations of all three forms or none."""
    random.seed(20)
    images, annotations = [], []
    for i in range(12):
        height, width = random.randint(20, 60), random.randint(20, 60)
        (folder / "photos").mkdir(exist_ok=True)
        (folder / "photos" / f"{i}.jpg").write_bytes(encoded(photograph(i, height, width)))
        images.append({"id": 900 - i, "file_name": f"{i}.jpg", "height": height, "width": width})
        for k in range(random.randrange(6)):
            segmentation: Any = [polygons(height, width), runs(height, width, True), None][k % 3]
            if k == 4:
                segmentation = runs(height, width, False)
            made = {"segmentation": segmentation} if segmentation else {}
            box = [round(random.uniform(0, 20), 2) for _ in range(4)]
            annotations.append(
                {"id": len(annotations) + 1, "image_id": 900 - i, "bbox": box, "area": 5.5 + k,
                 "category_id": random.choice([3, 17, 90]), "iscrowd": int(k in (1, 4)), **made}
            )  # fmt: skip
    random.shuffle(annotations)
    categories = [{"id": number, "name": f"class {number}"} for number in (90, 3, 17)]
    path = folder / "instances.json"
    path.write_text(
        json.dumps({"images": images, "annotations": annotations, "categories": categories})
    )
    return path, folder / "photos"


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # pycocotools'
def test_coco_masks_and_columns_are_those_of_pycocotools(tmp_path: pathlib.Path) -> None:
    file, photos = coco_files(tmp_path)
    pack("--from", "coco", file, photos, tmp_path / "out.rec")
    data = fr.open(tmp_path / "out.rec")
    coco = COCO(str(file))
    assert [sample["image_id"] for sample in data] == [900 - i for i in range(12)]
    categories = sorted(coco.getCatIds())
    assert data.schema["labels"].classes == tuple(c["name"] for c in coco.loadCats(categories))
    objects = 0
    for sample in data:
        found = coco.loadAnns(coco.getAnnIds(imgIds=sample["image_id"]))
        objects += len(found)
        numbers = np.zeros(sample.decode().shape[:2], np.uint8)
        for number, annotation in zip(sample["numbers"], found, strict=True):
            if "segmentation" in annotation:
                numbers[coco.annToMask(annotation) == 1] = number
        np.testing.assert_array_equal(sample.decode("mask"), numbers)
        ids = [annotation["category_id"] for annotation in found]
        assert sample["category_ids"].tolist() == ids
        assert [categories[label] for label in sample["labels"]] == ids
        assert sample["iscrowd"].tolist() == [annotation["iscrowd"] == 1 for annotation in found]
        boxes = np.array([annotation["bbox"] for annotation in found]).reshape(-1, 4)
        boxes[:, 2:] += boxes[:, :2]
        np.testing.assert_allclose(sample["boxes"], boxes, atol=1e-5)
    assert objects > 20


def test_masks_are_files_with_palettes_or_arrays(tmp_path: pathlib.Path) -> None:
    for folder in ("images", "masks"):
        (tmp_path / folder).mkdir()
    numbers = np.random.default_rng(1).integers(0, 3, (20, 30)).astype(np.uint8)
    palette = Image.fromarray(numbers, "P")
    palette.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    palette.save(tmp_path / "masks" / "a.png")
    np.save(tmp_path / "masks" / "b.npy", numbers.astype(np.int32) * 70_000)
    for name in "ab":
        (tmp_path / "images" / f"{name}.jpg").write_bytes(encoded(photograph(1, 20, 30)))
    pack("--from", "masks", tmp_path / "images", tmp_path / "masks", tmp_path / "out.rec")
    first, second = fr.open(tmp_path / "out.rec")
    np.testing.assert_array_equal(first.decode("mask"), numbers)
    np.testing.assert_array_equal(second.decode("mask"), numbers.astype(np.int32) * 70_000)


def test_damaged_masks_are_skipped_with_decode(tmp_path: pathlib.Path) -> None:
    for folder in ("images", "masks"):
        (tmp_path / folder).mkdir()
    mask = encoded(photograph(2, 20, 30).convert("L"), "PNG")
    for name, bytes_of_mask in (("a", mask), ("b", mask[:-200])):
        (tmp_path / "images" / f"{name}.jpg").write_bytes(encoded(photograph(1, 20, 30)))
        (tmp_path / "masks" / f"{name}.png").write_bytes(bytes_of_mask)
    sources = ["--from", "masks", tmp_path / "images", tmp_path / "masks"]
    pack(*sources, tmp_path / "undecoded.rec")
    words = [*map(str, sources), str(tmp_path / "x.rec"), "--decode", "--max-errors", "1", "-q"]
    assert fr._core.cli_main(["fuelrail", "pack", *words]) == 1
    assert [sample["file_name"] for sample in fr.open(tmp_path / "x.rec")] == ["a.jpg"]


def test_the_code_of_annotations_md_runs(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    file, photos = coco_files(tmp_path)
    pack("--from", "coco", file, photos, "train.rec")
    instances = json.loads(file.read_text())
    images, objects = instances["images"], instances["annotations"]
    captions = [{"id": 1, "image_id": images[0]["id"], "caption": "A photograph."}]
    person = {"id": objects[0]["id"], "image_id": objects[0]["image_id"], "keypoints": [1, 2, 2]}
    for name, added in [("captions", captions), ("person_keypoints", [person])]:
        made = {"images": images, "annotations": added}
        (tmp_path / f"{name}.json").write_text(json.dumps(made))
    Image.new("L", (8, 8)).save("a.png")
    row = {"image": "a.png", "mask": "a.png", "boxes": [[1, 2, 3, 4]], "labels": [1]}
    (tmp_path / "table.jsonl").write_text(json.dumps(row) + "\n")

    names: dict[str, Any] = {}
    for block in code_of("annotations.md"):
        exec(block, names)
    assert names["masks"].shape == (names["end"], 512, 512)
    counts = [sum(one["image_id"] == image["id"] for one in objects) for image in images[:4]]
    assert (names["labels"] >= 0).sum(1).tolist() == counts
    pack("--from", "coco", "joined.json", photos, "joined.rec")
    data = fr.open("joined.rec")
    assert data[0]["captions"] == ["A photograph."]
    assert data[0]["file_name"] == "0.jpg"
    assert sum(sample["keypoints"].any() for sample in data) == 1
    assert fr.open("table.rec").schema == names["schema"]
