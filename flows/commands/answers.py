# ruff: noqa: D301  (\b tells click to keep the lines of this paragraph)
"""The commands about answers: `normalize`, `ask`, `review`, `apply-feedback`.

Each calls the functions that do its work in this process, and imports them when it runs.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

from flows.commands.project_root import (
    CodeDepth,
    Language,
    MinConfidence,
    Model,
    Profile,
    TopK,
    fresh_root,
    print_facts,
    profile_root,
    registry_root,
)
from flows.errors import error_handling
from flows.profiles import DEFAULT
from flows.results import bulk_facts
from flows.workspace import CACHE_DIR, champion
from tasks.io.tracking import check_answer, tracking_uri


def normalize(
    source: Annotated[str, typer.Argument(help="Table of titles: a file, a folder, s3://…")],
    output: Annotated[Path, typer.Argument(help="NAME.csv, .xlsx or .parquet, or a folder.")],
    profile: Profile = DEFAULT,
    model: Model = "",
    column: Annotated[
        list[str] | None,
        typer.Option(help="Column of titles, in order of preference; default: detected."),
    ] = None,
    encoding: Annotated[str, typer.Option(help="Of text files; default: detected.")] = "",
    file_column: Annotated[
        str, typer.Option(help="Name of a column to be added that names the file.")
    ] = "",
    shard: Annotated[
        str, typer.Option(help="2/8: of a folder, the second of every eight files.")
    ] = "",
    prefix: Annotated[str, typer.Option(help="Prefix of the answer columns' names.")] = "",
    top_k: TopK = None,
    min_confidence: MinConfidence = None,
    code_depth: CodeDepth = None,
    language: Language = "",
    threads: Annotated[int | None, typer.Option(help="Default: one per core.")] = None,
    cache_dir: Annotated[
        Path | None, typer.Option(help="Folder of earlier answers; default: the clone's own.")
    ] = None,
) -> None:
    """Answer every row of files of any size.

    Writes all rows and columns of the input with the answers beside them: one file if the name of
    OUTPUT ends in .csv, .xlsx or .parquet, else a folder of Parquet files. Refused rows and a
    manifest lie beside the file, or in the folder. The model sees each distinct title once; a cache
    keeps its answer for the next run. After an interruption the same command continues behind the
    last finished part. OUTPUT appears when it is complete. The profile's champion answers
    unless --model is given, and the column of its raw titles is taken if the input has it.

    \b
    Examples:
      rolecall normalize titles.csv answers.xlsx
      rolecall normalize titles.csv answers.xlsx --profile mine
      rolecall normalize s3://board/vacancies answers --column headline --min-confidence 0.5
      rolecall normalize titles.xlsx answers --column "Job title (EN)" --column "Job title (DE)"
    """
    source = source if "://" in source else str(Path(source).absolute())
    output = output.absolute()
    with error_handling():
        root = registry_root(profile, model)
        from tasks.apps.bulk.normalize import normalize as answer_all

        manifest = answer_all(
            source,
            output,
            model or champion(root),
            cache_dir or root / CACHE_DIR,
            root,
            column=column or [],
            encoding=encoding,
            file_column=file_column,
            shard=shard,
            prefix=prefix,
            top_k=top_k,
            min_confidence=min_confidence,
            code_depth=code_depth,
            language=language or None,
            threads=threads,
        )
        print_facts(bulk_facts(manifest, output))


def ask(
    titles: Annotated[
        list[str] | None, typer.Argument(help="Default: standard input, one title a line.")
    ] = None,
    profile: Profile = DEFAULT,
    model: Model = "",
    top_k: TopK = None,
    min_confidence: MinConfidence = None,
    code_depth: CodeDepth = None,
    language: Language = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one object for each title.")
    ] = False,
) -> None:
    """Answer a few titles, and explain the answers.

    Prints the occupation, its confidence, codes and alternatives, and the words that drew the title
    to it; if the model abstains, the reason. Colours a terminal unless NO_COLOR is set. For files
    use `rolecall normalize`.

    \b
    Examples:
      rolecall ask "snr softwre enginer Berlin" "Krankenpfleger in Teilzeit"
      rolecall ask --json < titles.txt
    """
    with error_handling():
        address = model or champion(profile_root(profile))
        from tasks.apps.ask import ask as answer

        params = {"top_k": top_k, "min_confidence": min_confidence, "code_depth": code_depth}
        named = {**params, "language": language or None}
        chosen = {name: value for name, value in named.items() if value is not None}
        answer(titles or [], address, profile_root(profile, address), chosen, as_json=as_json)


def review(
    answers: Annotated[
        list[Path], typer.Argument(help="Outputs of `rolecall normalize`, the newest last.")
    ],
    output: Annotated[Path, typer.Argument(help="Folder for the queue and the page.")],
    profile: Profile = DEFAULT,
    model: Annotated[str, typer.Option(help="Address; default: the newest run's.")] = "",
    budget: Annotated[int, typer.Option(min=1, help="Number of titles to review.")] = 200,
    compare_with: Annotated[
        Path | None, typer.Option(help="Another model's answers: changed ones count twice.")
    ] = None,
) -> None:
    """Queue the titles of runs whose review helps most.

    Those titles come first that speak for most rows with a likely wrong answer, their own and those
    of titles near them. Near-duplicates and titles that were reviewed before are left out. Every
    fifth title is that of a random row of the newest run.

    Name earlier runs as well: their titles are chosen from, too, and their rows count. A title of
    several runs has the answer of the newest.

    Writes review.html, a page for the browser that needs no mouse and no network, and queue.csv,
    the same for a spreadsheet. Put the file that either gives into the folder that the page names:
    feedback/PROFILE, or feedback/ for the sample.

    \b
    Examples:
      rolecall review answers queue
      rolecall review week-41.parquet week-42.parquet queue
      rolecall review answers queue --budget 50 --compare-with answers_of_another_model
    """
    runs, output = [run.absolute() for run in answers], output.absolute()
    with error_handling():
        root = registry_root(profile)
        from flows.feedback import feedback_folder
        from tasks.apps.review.queue import review as queue_titles

        folder = feedback_folder(root)
        queue_titles(
            runs,
            output,
            root=root,
            model=model,
            budget=budget,
            compare_with=compare_with,
            feedback=folder,
        )
        facts = queue_facts(output) | {"save to": folder}
        if len(runs) > 1:
            facts["runs"] = f"{len(runs)}, the newest {runs[-1]}"
        print_facts(facts)


def queue_facts(output: Path) -> dict[str, str]:
    """Describe a queue by its file."""
    with (output / "queue.csv").open(encoding="utf-8-sig", newline="") as file:
        titles = [*csv.DictReader(file)]
    rows = sum(int(title["rows"]) for title in titles)
    abstained = sum(not title["predicted_occupation_id"] for title in titles)
    return {
        "queue": f"{len(titles):,} titles of {rows:,} rows, {abstained:,} without an answer",
        "page": str(output / "review.html"),
        "table": str(output / "queue.csv"),
    }


def apply_feedback(profile: Profile = DEFAULT) -> None:
    """Apply reviewers' corrections to the champion at once.

    Reads the files of feedback/PROFILE, or feedback/ for the sample, refuses bad rows with their
    reasons, and registers the champion again with the corrections, without training. The next
    `rolecall retrain` learns from them. If the champion has all of them already, it stays.

    \b
    Examples:
      rolecall apply-feedback
      rolecall apply-feedback --profile mine
    """
    with fresh_root(profile) as root:
        from flows.feedback import apply_feedback as apply

        check_answer(tracking_uri(root))
        print_facts(apply(root))
