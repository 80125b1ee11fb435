"""Writes still.mp4, a record of a `.bzna` file whose still is H.264 (`avc1`) from libx264, and still.yuv,
the planes that ffmpeg decodes from it: luma, Cb and Cr, of 8 bits and 4:2:0. unsaid.mp4 is the same picture,
but says nothing of its colours.

    python tests/golden/h264/make.py    (with the ffmpeg of Debian 12)

The image has 18 rows and 24 columns; its pixel at row Y and column X is (40 + 8 X, 30 + 10 Y, 200 - 4 X).
"""

import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
PICTURE = "color=size=24x18,format=gbrp,geq=r='40+8*X':g='30+10*Y':b='200-4*X'"
PLANES = "scale=out_color_matrix=bt601:out_range=full,format=yuv420p"
CODEC = [
    "-c:v",
    "libx264",
    "-qp",
    "12",
    "-threads",
    "1",
    "-bsf:v",
    "filter_units=remove_types=6",
]  # without SEI
COLOURS = ["-color_range", "pc", "-colorspace", "smpte170m", "-chroma_sample_location", "center"]
TRACK = ["-metadata:s:v", "handler_name=bzna_input", "-bitexact"]


def ffmpeg(*arguments: str) -> None:
    subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], check=True)


if __name__ == "__main__":
    still, planes = str(HERE / "still.mp4"), str(HERE / "still.yuv")
    source = ["-f", "lavfi", "-i", f"{PICTURE},{PLANES}", "-frames:v", "1"]
    ffmpeg(*source, *CODEC, *COLOURS, *TRACK, still)
    ffmpeg(*source, *CODEC, *TRACK, str(HERE / "unsaid.mp4"))
    ffmpeg("-i", still, "-f", "rawvideo", planes)
