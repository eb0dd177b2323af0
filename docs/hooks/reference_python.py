"""The Python interface of the registered model, from its docstrings and signatures."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

from reference_tables import entries, sections, table

from models.normalizer.predict_params import PredictParams

METHODS = ("embed", "similar", "explain")
HEAD = """# Python

A consumer installs MLflow and the packages that the model names, nothing of this repository.

```python
import mlflow, pandas

model = mlflow.pyfunc.load_model("models:/rolecall@champion")
answers = model.predict(pandas.DataFrame({"raw_title": ["night nurse"]}), params={"top_k": 3})
```

## predict

`model.predict(frame, params=None)` takes a pandas data frame with the column `raw_title`. It
returns the [answer columns](answer.md), one row for each row of `frame`, with its index. `params`
may hold:
"""
MORE = """
A value out of range raises an error that names the value and the range. MLflow drops an unknown
name with a warning when it runs in your process; its web server refuses it with status 400.

## More than predict

`served = model.unwrap_python_model()` has three more methods.
"""


def python_page(root: Path) -> str:
    """Write the page."""
    with warnings.catch_warnings():  # MLflow warns about its own type hints
        warnings.simplefilter("ignore")
        from tasks.release.model_package.serving import ServedNormalizer

    params = entries(sections(PredictParams)["Attributes"])
    rows = [(f"`{name}`", text) for name, text in params]
    methods = (method_text(name, getattr(ServedNormalizer, name)) for name in METHODS)
    return (
        "\n\n".join([HEAD + "\n" + table(("param", "meaning"), rows), MORE.strip(), *methods])
        + "\n"
    )


def method_text(name: str, method: Any) -> str:  # noqa: ANN401
    """Write one method: signature, text, arguments, return value."""
    signature = inspect.signature(method)
    own = signature.replace(
        parameters=[p for p in signature.parameters.values() if p.name != "self"]
    )
    call = f"{name}{own}".replace("'", "").replace("pd.", "pandas.").replace("np.", "numpy.")
    documented = sections(method)
    parts = [f"### {name}", f"```python\n{call}\n```", documented[""]]
    if "Args" in documented:
        rows = [(f"`{arg}`", text) for arg, text in entries(documented["Args"])]
        parts.append(table(("argument", "meaning"), rows))
    if "Returns" in documented:
        parts.append(f"Returns {' '.join(documented['Returns'].split())}")
    return "\n\n".join(parts)
