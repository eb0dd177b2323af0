"""Shape annotations checked at run time.

In the packages they stand under `TYPE_CHECKING` and are strings, so that jaxtyping need not be
installed where the packages run. Here they are resolved and checked by jaxtyping and beartype.
"""

import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Any

import jaxtyping
import torch
from beartype import beartype

KINDS = ("Bool", "Float", "Float16", "Float32", "Int", "Int64", "Integer")
NAMES = {name: getattr(jaxtyping, name) for name in KINDS}


@cache  # making the copy takes longer than most calls of it
def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of `function` that refuses arguments and results unlike its annotations."""
    copy = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__annotations__ = _resolved(function, function.__globals__)
    return jaxtyping.jaxtyped(typechecker=beartype)(copy)


def check_fields(value: Any) -> None:
    """Check every array and tensor of a dataclass or named tuple; axes of one name agree."""
    module = vars(__import__(type(value).__module__, fromlist=["_"]))
    with jaxtyping.jaxtyped("context"):
        for name, hint in _resolved(type(value), module).items():
            if isinstance(hint, type) and issubclass(hint, jaxtyping.AbstractArray):
                field = getattr(value, name)
                assert isinstance(field, hint), f"{name}: {field.dtype}{field.shape}, not {hint}"


def _resolved(thing: Any, module: dict[str, Any]) -> dict[str, Any]:
    return typing.get_type_hints(thing, {"Tensor": torch.Tensor, **NAMES, **module})
