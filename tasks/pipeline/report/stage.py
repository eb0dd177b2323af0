"""Stage `report`: one self-contained HTML page for people, and five metrics.

In: the frames and counts of all stages before (`load_report_data` names the files), of the mix
`mix` of `params.yaml` and the first of its `seeds`. Out: `data/report/report.html`, and for `dvc
metrics` `data/report/metrics.json`, the network's success@1 on each test. The page holds no date,
duration or path: equal inputs give equal bytes. The stage measures only paired differences, and the
network's answers to judged titles now. `tasks/release/gate/decision_page.py` adds version, date and
decision.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from models.reproducibility.atomic_write import write_bytes
from tasks.evaluation.answering import answering
from tasks.evaluation.metric_tables import read_table
from tasks.evaluation.params import EvaluateParams
from tasks.evaluation.systems import read_index
from tasks.io import schemas
from tasks.io.command import run
from tasks.io.frames import read_frame, read_json, write_json
from tasks.io.queries import read_queries
from tasks.io.section import load, load_run
from tasks.pipeline.ingest.params import IngestParams
from tasks.pipeline.report.page import report
from tasks.pipeline.report.params import ReportParams
from tasks.pipeline.report.report_data import PageParams, ReportData
from tasks.pipeline.train.params import TrainParams

PAGE = Path("data/report/report.html")
METRICS = Path("data/report/metrics.json")


def metrics(report_data: ReportData) -> dict[str, float]:
    """Return success@1 of the trained network by test."""
    rows = report_data.table.filter(system=report_data.trained, slice="all", metric="success_at_1")
    return dict(rows.select("test", "value").iter_rows())


def page_params() -> PageParams:
    """Read the page's parameters."""
    chosen = load_run()
    return PageParams(
        chosen.mix,
        chosen.seed,
        chosen.seeds[0],
        load(IngestParams).taxonomy.reader,
        load(TrainParams),
        load(EvaluateParams),
        load(ReportParams),
    )


def load_report_data(params: PageParams, data: Path) -> ReportData:
    """Read the files of earlier stages below `data`.

    Raises:
        FileNotFoundError: a stage before has not run.
        SchemaError: a file is not what its stage writes.
    """
    training = f"{params.mix}/{params.train_seed}"
    trained, calibrated = data / "train" / training, data / "calibrate" / training
    pairs = data / "pairs" / params.mix
    evaluated = [data / "lexical", data / "evaluate" / training]
    return ReportData(
        params=params,
        counts=read_json(data / "ingest/metrics.json"),
        occupations=read_frame(data / "ingest/occupations.parquet", schemas.OCCUPATIONS),
        aliases=read_frame(data / "split/aliases.parquet", schemas.SPLIT_ALIASES),
        queries=read_queries("test", data),
        history=read_table(trained / "history.csv", schemas.HISTORY),
        run=pl.concat(read_frame(folder / "run.parquet", schemas.RUN) for folder in evaluated),
        scores=pl.concat(
            read_frame(folder / "scores.parquet", schemas.SCORES) for folder in evaluated
        ),
        table=pl.concat(read_table(folder / "table.csv", schemas.TABLE) for folder in evaluated),
        feedback=read_json(pairs / "metrics.json").get("feedback"),
        judged=read_frame(pairs / "judged.parquet", schemas.JUDGED),
        reviews=read_frame(pairs / "reviews.parquet", schemas.REVIEWS),
        calibration=read_json(calibrated / "metrics.json"),
        ood_threshold=(read_json(calibrated / "calibration.json") or {}).get("ood_threshold"),
        search=answering(trained / "model", read_index(data), params.evaluate.rule, calibrated),
    )


def main() -> None:
    """Run the stage in the working directory."""
    report_data = load_report_data(page_params(), Path("data"))
    write_json(metrics(report_data), METRICS)
    write_bytes(report(report_data), PAGE)


if __name__ == "__main__":
    run(main)
