"""Stage `report`: one self-contained HTML page for people, and five metrics.

In: the frames and counts of all stages before (`load_report_data` names the files), of the mix
`mix` of `params.yaml` and the first of its `seeds`. Out: `data/report/report.html`, and for `dvc
metrics` `data/report/metrics.json`, the network's success@1 on each test. The page holds no date,
duration or path: equal inputs give equal bytes. `tasks/release/gate/decision_page.py`
adds version, date and decision.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import polars as pl
from markupsafe import Markup

from models.reproducibility import write_bytes
from tasks.evaluation.answering import answering
from tasks.evaluation.metric_tables import read_table
from tasks.evaluation.systems import EvaluateParams, read_index
from tasks.io import schemas
from tasks.io.command import run
from tasks.io.files import read_json, write_json
from tasks.io.frames import read_frame
from tasks.io.mixes import read_learned, read_queries, reads_feedback
from tasks.io.section import Count, Section, load, load_run
from tasks.pipeline.ingest.stage import IngestParams
from tasks.pipeline.report.feedback import feedback, reviewers
from tasks.pipeline.report.overview import confidence, data, learning
from tasks.pipeline.report.page import render
from tasks.pipeline.report.report_data import ReportData
from tasks.pipeline.report.results import confusions, coverage, results
from tasks.pipeline.report.weeks import weeks
from tasks.pipeline.train_params import TrainParams

PAGE = Path("data/report/report.html")
METRICS = Path("data/report/metrics.json")
SECTIONS: dict[str, tuple[str, str, Callable[[ReportData], Markup]]] = {
    "results": ("Results", "Results", results),
    "coverage": ("Accuracy against coverage", "Coverage", coverage),
    "confidence": ("Confidence and accuracy", "Confidence", confidence),
    "confusions": ("Worst occupations and confusions", "Confusions", confusions),
    "learning": ("Learning curves", "Learning curves", learning),
    "feedback": ("Feedback", "Feedback", feedback),
    "weeks": ("Week by week", "Week by week", weeks),
    "reviewers": ("Reviewers", "Reviewers", reviewers),
    "data": ("The data", "The data", data),
}
"""Heading, words of the link, and content by anchor."""

FIGURES = {name: name for name in ("occupations", "aliases", "inputs")}
FIGURES |= {"inputs_labelled": "of them labelled", "rejected_errors": "rejected rows"}


class ReportParams(Section):
    """Section `report`: how many rows the table of confusions shows."""

    NAME: ClassVar[str] = "report"
    confusions: Count


def report(report_data: ReportData) -> bytes:
    """Write the whole document as UTF-8; equal data give equal bytes."""
    train = report_data.train
    return render(
        "pipeline/report/report.html.j2",
        mix=report_data.mix,
        reader=report_data.reader,
        encoder=train.encoder.kind,
        loss=train.loss.kind,
        figures=[(report_data.counts[name], words) for name, words in FIGURES.items()],
        sections=[
            (anchor, heading, link, content(report_data))
            for anchor, (heading, link, content) in SECTIONS.items()
        ],
    ).encode()


def metrics(report_data: ReportData) -> dict[str, float]:
    """Return success@1 of the trained network by test."""
    rows = report_data.table.filter(system=report_data.mix, slice="all", metric="success_at_1")
    return dict(rows.select("test", "value").iter_rows())


def load_report_data(data: Path) -> ReportData:
    """Read the parameters, and earlier stages' files below `data`; FileNotFoundError without."""
    chosen, evaluate = load_run(), load(EvaluateParams)
    training = f"{chosen.mix}/{chosen.seeds[0]}"
    trained, calibrated = data / "train" / training, data / "calibrate" / training
    evaluated = [data / "lexical", data / "evaluate" / training]
    return ReportData(
        mix=chosen.mix,
        seed=chosen.seed,
        reader=load(IngestParams).taxonomy.reader,
        train=load(TrainParams),
        evaluate=evaluate,
        most_confusions=load(ReportParams).confusions,
        counts=read_json(data / "ingest/metrics.json"),
        occupations=read_frame(data / "ingest/occupations.parquet", schemas.OCCUPATIONS),
        aliases=read_frame(data / "split/aliases.parquet", schemas.SPLIT_ALIASES),
        queries=read_queries("test", data),
        history=read_table(trained / "history.csv", schemas.HISTORY),
        run=pl.concat(read_frame(folder / "run.parquet", schemas.RUN) for folder in evaluated),
        scores=pl.concat(read_frame(of / "scores.parquet", schemas.SCORES) for of in evaluated),
        table=pl.concat(read_table(folder / "table.csv", schemas.TABLE) for folder in evaluated),
        feedback=read_json(data / "feedback/metrics.json") if reads_feedback(chosen.mix) else None,
        resolutions=read_learned(chosen.mix, "resolutions", schemas.RESOLUTIONS, data),
        verdicts=read_learned(chosen.mix, "verdicts", schemas.VERDICTS, data),
        calibration=read_json(calibrated / "metrics.json"),
        ood_threshold=(read_json(calibrated / "calibration.json") or {}).get("ood_threshold"),
        search=answering(trained / "model", read_index(data), evaluate.rule, calibrated),
    )


def main() -> None:
    """Run the stage in the working directory."""
    report_data = load_report_data(Path("data"))
    write_json(metrics(report_data), METRICS)
    write_bytes(report(report_data), PAGE)


if __name__ == "__main__":
    run(main)
