"""The champion's answers to messy titles in ten languages: the README's first table.

`python -m benchmarks.answers` loads it as a consumer does and writes `results/answers.md`.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.tables import markdown
from models.reproducibility import write_bytes
from tasks.io.tracking import registry

ANSWERS = Path("results/answers.md")
MODEL = "models:/rolecall@champion"
TITLES = (
    "looking for C++ developers (urgent!)",
    "Krankenpfleger (m/w/d) in Teilzeit",
    "chauffeur poids lourd H/F - CDI",
    "peluquera a media jornada",
    "commessa negozio abbigliamento part time",
    "vrachtwagenchauffeur CE - fulltime",
    "księgowa - umowa o pracę, Warszawa",
    "enfermeira de urgência - turno da noite",
    "undersköterska sökes till äldreboende, natt",
    "řidič autobusu, nástup ihned",
    "secreary",
    "driver",
    "retired",
)


def main() -> None:
    """Query the champion and write its answers."""
    with registry(Path.cwd()):
        import mlflow
        import pandas as pd

        model = mlflow.pyfunc.load_model(MODEL)
        answers = model.predict(pd.DataFrame({"raw_title": TITLES}))
    rows = []
    for title, own in zip(TITLES, answers.itertuples(), strict=True):
        cells = (f"abstains: {own.reason}", "", "")
        if own.occupation_id:
            cells = (f"**{own.occupation_label}**", own.codes[-1], f"{own.confidence:.2f}")
        rows.append((f"`{title}`", *cells))
    table = markdown(("title", "occupation", "code", "confidence"), rows)
    write_bytes(f"{table}\n".encode(), ANSWERS)
    print(f"{MODEL} answered: {ANSWERS}")


if __name__ == "__main__":
    main()
