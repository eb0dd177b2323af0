"""One seed in `params.yaml`, a child seed for each stage and use, derived by name."""

from __future__ import annotations

import hashlib

import numpy as np


def child_seed(seed: int, *names: str) -> int:
    """Return a 63-bit seed that depends on `seed` and the names, and on nothing else."""
    digest = hashlib.sha256("/".join([str(seed), *names]).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return a fresh generator for one use, e.g. ``generator(params.seed, "typos", "test")``."""
    return np.random.default_rng(child_seed(seed, *names))
