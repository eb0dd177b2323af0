# ruff: noqa: D301  (\b tells click to keep the lines of this paragraph)
"""The commands about answers: `normalize`, `review`, `apply-feedback`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from flows.commands.options import CodeDepth, Language, MinConfidence, Model, Profile, TopK
from flows.commands.project_root import (
    absolute_model,
    change_to_root,
    existing_root,
    print_facts,
    run_flow,
)
from flows.failure import errors_of_input
from flows.workspaces.profiles import DEFAULT, SAMPLE
from tasks.io.masked import concealed
from tasks.io.tracking import tracking_uri

FIRST = 20  # files of a folder elsewhere that are opened before the run starts


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
    options: dict[str, object] = {"column": column, "prefix": prefix, "threads": threads}
    options |= {"encoding": encoding, "file_column": file_column, "language": language}
    options |= {"top_k": top_k, "min_confidence": min_confidence, "code_depth": code_depth}
    options["shard"] = shard
    chosen = {name: value for name, value in options.items() if value not in (None, "")}
    source = source if "://" in source else str(Path(source).absolute())
    output, model = output.absolute(), absolute_model(model)
    cache = str(cache_dir.absolute()) if cache_dir else ""
    with change_to_root(SAMPLE) as root:
        from flows.workspaces.workspace import workspace_of

        if model and not workspace_of(root, profile).is_dir():
            profile = SAMPLE  # which is there
        answering = existing_root(profile)
        with errors_of_input():
            _refuse_early(source, output, answering, model, chosen)
        with run_flow(root, "normalize"):
            from flows.normalize import facts
            from flows.normalize import normalize as flow

            manifest = flow(concealed(source), str(output), model, chosen, cache, profile)
            print_facts(facts(manifest, str(output)))


def _refuse_early(
    source: str, output: Path, answering: Path, model: str, options: Mapping[str, Any]
) -> None:
    """Refuse what cannot be read or written before anything starts that takes longer than this.

    Of a folder elsewhere, which may have thousands of files, the first `FIRST` are opened.

    `answering`: the root whose champion answers if there is no `model`.

    Raises:
        ValueError, ImportError or OSError: with what to do.
    """
    from tasks.apps.bulk.files import KINDS, state_of
    from tasks.apps.bulk.place import require_free_names, require_place
    from tasks.apps.bulk.source import TitleSource
    from tasks.apps.bulk.title_columns import usual_column

    require_place(output, source)
    is_whole = "://" not in source or source.partition("?")[0].lower().endswith(KINDS)
    found = TitleSource.find(
        source,
        options.get("column", []),
        options.get("encoding", ""),
        options.get("file_column", ""),
        usual_column(answering),
        first=None if is_whole else FIRST,
        shard=options.get("shard", ""),
    )
    require_free_names(found, options.get("prefix", ""))
    if output.exists() and is_whole:
        from flows.champion import champion
        from tasks.apps.bulk.output import STATE, require_same_run
        from tasks.apps.bulk.plan import VERSIONS, plan_of
        from tasks.release.registry.opening import stored

        run = plan_of(found, source, options) | {STATE: state_of(found.files)}
        beside = stored(model or champion(answering), tracking_uri(answering))
        if beside:
            require_same_run(output, {**run, "model": beside[0]}, unknown=VERSIONS)
        else:  # MLflow alone knows, and takes seconds
            require_same_run(output, run, unknown=("model", *VERSIONS))


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
    runs = [run.absolute() for run in answers]
    output, model = output.absolute(), absolute_model(model)
    options = {"budget": str(budget)} | ({"model": model} if model else {})
    options |= {"compare_with": str(compare_with.absolute())} if compare_with else {}
    with change_to_root(SAMPLE) as root:
        existing_root(profile)
        with errors_of_input():
            from tasks.apps.review.merged_runs import answered_runs
            from tasks.apps.unfinished import require_free

            require_free(output)
            answered_runs(runs)
        with run_flow(root, "review"):
            from flows.review import review as flow

            print_facts(flow([*map(str, runs)], str(output), options, profile))


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
    with change_to_root(profile) as root, run_flow(root, "apply-feedback"):
        from flows.apply_feedback import apply_feedback as flow

        print_facts(flow())
