"""Functions compiled by numba, where it is installed; and how many threads run them.

What was compiled is kept on the disk, for every process that loads the same functions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any
from zlib import crc32

import numpy as np


def compile_all(
    functions: Sequence[Any],
    inner: Sequence[Any],
    intrinsics: Sequence[Any] = (),
    *,
    reorder: bool = True,
) -> list[Callable[..., Any]] | None:
    """Compile functions, of which some call `inner` ones; None without numba.

    `intrinsics`: called ones that write LLVM's code. `reorder`: sums of floats may be added up in
    any order, though always in the same.
    """
    try:
        import numba
        from numba.extending import intrinsic, register_jitable
    except ImportError:  # or one that does not know this numpy
        return None
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    options["fastmath"] = {"reassoc", "contract"} if reorder else False
    made = _in_a_module([*functions, *inner, *intrinsics])
    for one in made[len(functions) : len(functions) + len(inner)]:
        register_jitable(one)
    for one in made[len(functions) + len(inner) :]:
        one.__globals__[one.__name__] = intrinsic(one)
    try:
        return [*map(numba.njit(cache=True, **options), made[: len(functions)])]
    except RuntimeError:  # no folder for compiled code can be written
        return [*map(numba.njit(**options), made[: len(functions)])]


def threads() -> int:
    """Return how many threads a process may use: `OMP_NUM_THREADS`, or as many as cores."""
    named = os.environ.get("OMP_NUM_THREADS", "")  # a list, too, where threads are nested
    return (int(named) if named.isdecimal() else 0) or os.cpu_count() or 1


def _in_a_module(functions: Sequence[Any]) -> list[FunctionType]:
    """Return functions in a module that every process calls the same.

    Compiled code that was kept names its module, and MLflow calls a served file anew at each load.
    Code and numbers of all functions are in its name, since numba looks at one file alone to see
    whether what it kept has changed.
    """
    known: dict[str, Any] = {}
    for function in functions:  # of modules that give no name to two things
        own = function.__globals__.items()
        known.update({key: one for key, one in own if not key.startswith("__")})
    codes = [function.__code__ for function in functions]
    used = sorted({key for code in codes for key in code.co_names if key in known})
    numbers = [(key, known[key]) for key in used if isinstance(known[key], int | float | np.number)]
    state = repr([numbers, *map(_instructions, codes)])
    name = f"rolecall_kernels_{crc32(state.encode())}"
    module = sys.modules.setdefault(name, ModuleType(name))
    made = [FunctionType(code, vars(module), code.co_name) for code in codes]
    for one in made:
        one.__qualname__ = f"{one.__name__}_{name}"
    vars(module).update({**known, **{one.__name__: one for one in made}})
    return made


def _instructions(code: CodeType) -> list[Any]:
    """Return a function's instructions and constants, with those of functions in it."""
    inner = (_instructions(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return [code.co_code, *inner]
