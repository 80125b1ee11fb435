"""Random lists of transforms, for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from fuelrail import transforms as T

SIDES = st.integers(50, 90)
SIZES = st.tuples(SIDES, SIDES)
PROBABILITIES = st.sampled_from([0.5, 1.0])
FILTERS = st.sampled_from(["bilinear", "bicubic", "nearest"])
WARP_FILTERS = st.sampled_from(["bilinear", "nearest"])
BORDERS = st.sampled_from(["constant", "constant", "edge", "reflect", "symmetric"])
WARP_BORDERS = st.sampled_from(["constant", "constant", "edge"])
MARGINS = st.tuples(*[st.integers(0, 20)] * 4)
SCALES = st.sampled_from([(0.4, 1.0), (0.2, 0.5), (1.0, 1.0)])

GEOMETRIC: list[st.SearchStrategy[T.Transform]] = [
    st.builds(T.CenterCrop, SIZES),
    st.builds(T.RandomResizedCrop, SIZES, SCALES, interpolation=FILTERS, antialias=st.booleans()),
    st.builds(T.Resize, SIZES | SIDES, FILTERS, antialias=st.booleans()),
    st.builds(T.Resize, SIDES | st.none(), FILTERS, st.integers(91, 120)),
    st.builds(T.ResizedCenterCrop, SIZES, st.integers(60, 100), FILTERS),
    st.builds(T.RandomShortestSize, st.lists(SIDES, min_size=1), st.integers(91, 120), FILTERS),
    st.builds(T.ScaleJitter, SIZES, st.just((0.8, 1.3)), FILTERS),
    st.builds(T.Pad, MARGINS, padding_mode=BORDERS),
    st.builds(
        T.RandomCrop,
        SIZES,
        MARGINS | st.none(),
        pad_if_needed=st.just(True),
        padding_mode=BORDERS,
    ),
    st.builds(T.RandomZoomOut, side_range=st.just((1.0, 1.5)), p=PROBABILITIES),
    st.builds(T.RandomIoUCrop, st.just(0.6)),
    st.builds(
        T.RandomRotation,
        st.integers(0, 180),
        WARP_FILTERS,
        st.booleans(),
        padding_mode=WARP_BORDERS,
    ),
    st.builds(
        T.RandomAffine,
        st.integers(0, 30),
        st.just((0.2, 0.1)),
        st.just((0.8, 1.3)),
        st.just((-10, 10, -5, 8)),
        WARP_FILTERS,
        padding_mode=WARP_BORDERS,
    ),
    st.builds(T.HorizontalFlip, PROBABILITIES),
    st.builds(T.VerticalFlip, PROBABILITIES),
]
COLORS: list[st.SearchStrategy[T.Transform]] = [
    st.just(T.ColorJitter(0.5, 0.5, 0.5, 0.5)),
    st.just(T.Grayscale()),
    st.just(T.RandomGrayscale(0.5)),
]
LISTS = st.lists(st.one_of(*GEOMETRIC, *COLORS), min_size=1, max_size=6)
