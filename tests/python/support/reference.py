"""A second implementation of the loader's random numbers, from the paper."""

from __future__ import annotations


def philox4x32_10(counter: list[int], key: list[int]) -> list[int]:
    """Salmon et al., SC'11: ten rounds."""
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * counter[0], 2**32)
        high1, low1 = divmod(0xCD9E8D57 * counter[2], 2**32)
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0]
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return counter


class Random:
    """The random numbers of one sample: docs/design.md, rule 2."""

    def __init__(self, seed: int, epoch: int, position: int) -> None:
        self.key = [seed % 2**32, seed >> 32]
        self.counter = [position % 2**32, position >> 32, epoch]

    def bits(self, operation: int, draw: int) -> int:
        block = philox4x32_10([*self.counter, operation << 16 | draw >> 2], list(self.key))
        return block[draw & 3]

    def uniform(self, operation: int, draw: int) -> float:
        return self.bits(operation, draw) / 2**32

    def below(self, operation: int, draw: int, bound: int) -> int:
        return self.bits(operation, draw) * bound >> 32
