"""Functions compiled by numba, where it is installed; and how many threads run them.

The user's folder for caches keeps the compiled code, by a hash of the functions. So a process that
calls the same functions compiles nothing. The place of their file does not matter.
"""

from __future__ import annotations

import dis
import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

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
    options["fastmath"] = dict.fromkeys(("reassoc", "contract"), reorder)
    compiler = (numba.__version__, np.__version__, options)
    made = _in_a_module([*functions, *inner, *intrinsics], compiler)
    for one in made[len(functions) : len(functions) + len(inner)]:
        register_jitable(one)
    for one in made[len(functions) + len(inner) :]:
        one.__globals__[one.__name__] = intrinsic(one)
    compiled = [*map(numba.njit(**options), made[: len(functions)])]
    for one in compiled:
        with suppress(RuntimeError):  # no folder for compiled code can be written
            one.enable_caching()
            _forgive(one._cache)
    return compiled


def _forgive(cache: Any) -> None:  # noqa: ANN401  # numba's, which is private
    """Let damaged files of compiled code, or a full disk, fail no call: they are written anew."""
    load, save = cache.load_overload, cache.save_overload

    def loaded(*arguments: object) -> object:
        try:
            return load(*arguments)
        except Exception:  # of pickle, LLVM or the system
            with suppress(Exception):
                cache.flush()
            return None

    def saved(*arguments: object) -> None:
        with suppress(Exception):
            save(*arguments)

    cache.load_overload, cache.save_overload = loaded, saved


def threads() -> int:
    """Return how many threads a process may use: `OMP_NUM_THREADS`, or as many as cores."""
    named = os.environ.get("OMP_NUM_THREADS", "")  # a list, too, where threads are nested
    return (int(named) if named.isdecimal() else 0) or os.cpu_count() or 1


def _in_a_module(functions: Sequence[Any], compiler: object) -> list[FunctionType]:
    """Return functions in a module that every process calls the same, and in a file of its name.

    Compiled code that was kept names its module, and MLflow calls a served file anew at each load.
    Numba keeps it beside the file, as long as that says the same. So the name stands for all that
    the code depends on, and the file says it.

    Raises:
        TypeError: one uses something else of its module than a number or another one of them.
    """
    known: dict[str, Any] = {}
    for function in functions:  # of modules that give no name to two things
        own = function.__globals__.items()
        known.update({key: one for key, one in own if not key.startswith("__")})
    codes = [function.__code__ for function in functions]
    every = _with_inner(codes)
    used = sorted({name for code in every for name in _globals_of(code)} & {*known})
    values = [(name, known[name]) for name in used if name not in {code.co_name for code in codes}]
    for name, value in values:
        if not isinstance(value, int | float | np.number | ModuleType):
            raise TypeError(f"a compiled function uses {name}, which is no number")
    used_values = [(name, type(one), getattr(one, "__name__", str(one))) for name, one in values]
    state = repr([compiler, used_values, *map(_instructions, every)])
    name = f"rolecall_kernels_{hashlib.sha256(state.encode()).hexdigest()[:32]}"
    file, module = _file_of(name), sys.modules.setdefault(name, ModuleType(name))
    if file:
        codes = [code.replace(co_filename=str(file), co_firstlineno=1) for code in codes]
    made = [FunctionType(code, vars(module), code.co_name) for code in codes]
    for one in made:
        one.__qualname__ = f"{one.__name__}_{name}"
    vars(module).update({**known, **{one.__name__: one for one in made}})
    return made


def _file_of(name: str) -> Path | None:
    """Return a file that says its name, where the user keeps caches; None if there is no place."""
    from numba.core import config
    from numba.misc.appdirs import user_cache_dir

    file = Path(config.CACHE_DIR or user_cache_dir("rolecall", False), f"{name}.py")
    if not file.is_absolute():  # the user has no home
        return None
    partial = file.with_suffix(f".{os.getpid()}")
    try:
        if not file.is_file():
            file.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(f"# {name}\n", encoding="utf-8")
            partial.replace(file)
    except OSError:
        return None
    return file


def _with_inner(codes: Sequence[CodeType]) -> list[CodeType]:
    """Return functions, each followed by those in it."""
    inner = ([one for one in code.co_consts if isinstance(one, CodeType)] for code in codes)
    return [
        one for code, own in zip(codes, inner, strict=True) for one in (code, *_with_inner(own))
    ]


def _globals_of(code: CodeType) -> set[str]:
    return {one.argval for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}


def _instructions(code: CodeType) -> list[Any]:
    constants = [one for one in code.co_consts if not isinstance(one, CodeType)]
    return [code.co_name, code.co_code, code.co_names, code.co_varnames, constants]
