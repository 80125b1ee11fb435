"""Reads sequences, such as video clips, with consecutive samples in consecutive batches."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from fuelrail.errors import ArgumentTypeError, InvalidArgumentError, UnsupportedError
from fuelrail.inputs.arguments import checked_seed
from fuelrail.inputs.errors import InputArgumentError
from fuelrail.inputs.sampler_base import SamplerBase
from fuelrail.options import integer, listed, shown, typed, whole
from fuelrail.state import plain_state

__all__ = ["SequenceSampler"]

Array = numpy.ndarray[Any, numpy.dtype[numpy.int64]]


class SequenceSampler(SamplerBase):
    """In each row (slot) of the batches, reads one sequence after the other, a sample a batch. It
    has no epochs and never ends.

    Cycle c has an order of all sequences, which depends on the seed: NumPy's `permutation`. Of B
    slots, slot b reads the sequences at the places b, b + B, b + 2B, ... of this order, and then
    begins its next cycle, without waiting for the other slots. So two slots can read the same
    sequence at once, if they are in different cycles.

    total_batch_size: number of slots: the batch size of all shards together.
    sequence_lenghts: number of samples of each sequence (spelt as in ACCV-Lab). Sequence s has the
        samples that follow those of sequence s - 1.
    seed: a non-negative integer of any size, the same for all shards.
    randomize: False keeps the given order in all cycles. Default: True.

    The memory grows with the slots and the sequences, not with the samples. A sampler can be
    pickled at any batch. Errors: InputArgumentError, an AssertionError, for fewer sequences than
    slots and for a sequence without samples; InvalidArgumentError.
    """

    def __init__(
        self,
        total_batch_size: int,
        sequence_lenghts: Sequence[int],
        seed: int,
        randomize: bool = True,
    ) -> None:
        self._slots = whole("total_batch_size", total_batch_size, least=1)
        lengths = _checked_lengths(sequence_lenghts)
        if len(lengths) < self._slots:
            raise InputArgumentError(
                "there are fewer sequences than slots of the batch",
                expected=f"at least {self._slots}",
                found=str(len(lengths)),
                remedy="The number of sequences must be at least the total batch size",
            )
        self._begins = numpy.concatenate([[0], numpy.cumsum(lengths)])
        self._orders = _Orders(checked_seed(seed), len(lengths), bool(randomize))
        checksum = zlib.crc32(self._begins.astype("<i8").tobytes())
        self._identity = {
            "version": 1,
            "slots": self._slots,
            "sequences": f"{len(lengths)} of {self._begins[-1]} samples, {checksum:08x}",
            "seed": str(self._orders.seed),
            "randomize": str(self._orders.randomize),
        }
        self._start(numpy.zeros(self._slots, numpy.int64), numpy.zeros(self._slots, numpy.int64))

    @property
    def length(self) -> int | None:
        """None: there is no epoch."""
        return None

    @property
    def is_epoch_based(self) -> bool:
        """False."""
        return False

    def reset(self) -> None:
        """Errors: UnsupportedError, a RuntimeError, always, because there is no epoch."""
        raise UnsupportedError(
            "SequencesSampler is not epoch-based",  # the name in ACCV-Lab's text
            remedy="Make a new sampler to start over",
        )

    def get_next_batch_indices(self) -> list[int]:
        """Returns the sample indices of the next batch, one for each slot."""
        batch: list[int] = self._next.tolist()
        self._next += 1
        self._positions += 1
        for slot in numpy.flatnonzero(self._next == self._ends).tolist():
            self._turns[slot] += 1
            if self._turns[slot] == len(self._own[slot]):
                self._cycles[slot] += 1
                self._positions[slot] = self._turns[slot] = 0
                self._own[slot] = self._of_slot(slot, int(self._cycles[slot]), self._cycles)
            sequence = self._own[slot][self._turns[slot]]
            self._next[slot], self._ends[slot] = self._begins[sequence : sequence + 2]
        return batch

    def state_dict(self) -> dict[str, Any]:
        """Returns the position as a dict of plain values: the cycle of each slot, and how many
        samples of this cycle it has read. The dict also says which sampler it belongs to.
        """
        return {
            **self._identity,
            "cycles": self._cycles.tolist(),
            "positions": self._positions.tolist(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues at a position that `state_dict` returned, of a sampler with the same arguments.
        Errors: InvalidArgumentError for any other state, after which the position is unchanged.
        """
        plain = plain_state(state, self._identity)
        for name, value in self._identity.items():
            if plain.get(name) != value:
                raise InvalidArgumentError(
                    f"the state is of another sampler: '{name}' differs",
                    expected=shown(value),
                    found=shown(plain.get(name)),
                    remedy="Make the sampler with the arguments of the one that saved the state",
                )
        cycles, positions = (self._counts(state, name) for name in ("cycles", "positions"))
        self._start(cycles, positions)

    def _counts(self, state: Mapping[str, Any], name: str) -> Array:
        values = state.get(name)
        counts = [integer(value) for value in values] if isinstance(values, (list, tuple)) else []
        if len(counts) != self._slots or not all(n is not None and 0 <= n < 2**62 for n in counts):
            raise InvalidArgumentError(
                f"the state's member '{name}' is invalid",
                expected=f"{self._slots} integers from 0 to 2**62 - 1",
                found=shown(values),
            )
        return numpy.array(counts, numpy.int64)

    def _start(self, cycles: Array, positions: Array) -> None:
        """Sets the place of each slot: its cycle, and the samples of the cycle that it has read."""
        own: list[Array] = [cycles] * self._slots  # the sequences of each slot's cycle
        turns, following, ends = (numpy.zeros(self._slots, numpy.int64) for _ in range(3))
        for slot in numpy.argsort(cycles, kind="stable").tolist():
            own[slot] = sequences = self._of_slot(slot, int(cycles[slot]), cycles)
            lengths = self._begins[sequences + 1] - self._begins[sequences]
            read = numpy.cumsum(lengths)  # after each sequence
            turn = int(numpy.searchsorted(read, positions[slot], side="right"))
            if turn == len(sequences):
                raise InvalidArgumentError(
                    f"the state's member 'positions[{slot}]' is invalid",
                    expected=f"below {read[-1]}, the samples of cycle {cycles[slot]}",
                    found=str(positions[slot]),
                )
            turns[slot] = turn
            ends[slot] = self._begins[sequences[turn] + 1]
            following[slot] = ends[slot] - (read[turn] - positions[slot])
        self._cycles, self._positions = cycles, positions
        self._own, self._turns = own, turns
        self._next, self._ends = following, ends  # of the samples of each slot's sequence

    def _of_slot(self, slot: int, cycle: int, cycles: Array) -> Array:
        """Returns the sequences that a slot reads in a cycle, in order.

        cycles: those of all slots now.
        """
        return self._orders.of(cycle, cycles)[slot :: self._slots].copy()


class _Orders:
    """The order of the sequences in each cycle. The generator must draw the cycles one after the
    other, so its state before each cycle that a slot may need next is kept.
    """

    def __init__(self, seed: int, count: int, randomize: bool) -> None:
        self.seed, self.randomize = seed, randomize
        self._latest: tuple[int, Array] = (-1, numpy.arange(count))  # a cycle and its order
        self._before: dict[int, Any] = {}  # the generator's state before a cycle

    def of(self, cycle: int, cycles: Array) -> Array:
        """Returns the order of a cycle. States that no slot in `cycles` needs are forgotten."""
        if self.randomize and cycle != self._latest[0]:
            if len(self._before) > 2 * len(cycles):
                needed = {*(cycles + 1).tolist(), cycle}
                self._before = {c: kept for c, kept in self._before.items() if c in needed}
            begin = max((c for c in self._before if c <= cycle), default=0)
            generator = numpy.random.default_rng(self.seed)
            if begin in self._before:
                generator.bit_generator.state = self._before[begin]
            for _ in range(begin, cycle + 1):
                order = generator.permutation(len(self._latest[1]))
            self._before[cycle + 1] = generator.bit_generator.state
            self._latest = (cycle, order)
        return self._latest[1]


def _checked_lengths(lengths: Sequence[int]) -> Array:
    given = listed(lengths)
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ArgumentTypeError(
            "`sequence_lenghts` has the wrong type", expected="a list", found=typed(lengths)
        )
    if not all(type(length) is int and length > 0 for length in given):  # the usual case, fast
        for sequence, length in enumerate(given):
            if integer(length) == 0:
                raise InputArgumentError(
                    f"sequence {sequence} has no samples",
                    remedy="Leave it out of `sequence_lenghts`",
                )
            whole(f"sequence_lenghts[{sequence}]", length, least=1)
    if sum(given) >= 2**63:
        raise InvalidArgumentError("the sequences have too many samples", expected="below 2**63")
    return numpy.array(given, numpy.int64)
