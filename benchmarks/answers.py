"""The champion's answers to messy titles in ten languages: the README's first table.

`python -m benchmarks.answers` asks the titles of `results/answers.md` as a consumer does, and
writes their answers there.
"""

from __future__ import annotations

import re
from pathlib import Path

from models.reproducibility import write_bytes
from tasks.io.command import markdown_table
from tasks.io.tracking import registry

ANSWERS = Path("results/answers.md")
MODEL = "models:/rolecall@champion"


def main() -> None:
    """Query the champion and write its answers."""
    titles = re.findall(r"^\| `(.*?)` \|", ANSWERS.read_text(encoding="utf-8"), re.MULTILINE)
    with registry(Path.cwd()):
        import mlflow
        import pandas as pd

        model = mlflow.pyfunc.load_model(MODEL)
        answers = model.predict(pd.DataFrame({"raw_title": titles}))
    rows = []
    for title, own in zip(titles, answers.itertuples(), strict=True):
        cells = (f"abstains: {own.reason}", "", "")
        if own.occupation_id:
            cells = (f"**{own.occupation_label}**", own.codes[-1], f"{own.confidence:.2f}")
        rows.append((f"`{title}`", *cells))
    table = markdown_table(("title", "occupation", "code", "confidence"), rows)
    write_bytes(f"{table}\n".encode(), ANSWERS)
    print(f"{MODEL} answered: {ANSWERS}")


if __name__ == "__main__":
    main()
