# ruff: noqa: D301  (\b is a sign for click: keep the lines of this paragraph)
"""`rolecall`: every door of the house as one command with subcommands.

What is imported here is quick; each command imports what it needs when it runs. Prefect, DVC and
MLflow read their settings when they are imported, so that the quiet ones are set first.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from flows.quiet import QUIET

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Profile = Annotated[
    str | None,
    typer.Option(help="Name of a file in profiles/, on whose data to work; default: the sample."),
]


@app.callback()
def main() -> None:
    """Find the occupation behind a job title: train, judge and register the network that does.

    Works in any folder of a clone. Exit status: 0 done (also when the gate keeps the old champion),
    1 failed, with what to do in the last lines, 2 wrong usage, 130 interrupted.
    """
    os.environ.update({**QUIET, **os.environ})


@app.command()
def retrain(
    profile: Profile = None,
    serve: Annotated[bool, typer.Option(help="Stay, and run on the weekly schedule.")] = False,
) -> None:
    """Train on what has changed, and register the model.

    The gate then decides whether it becomes champion.

    Skips what is up to date, and says "nothing to do" if all of it is. Interrupted or killed, the
    same command goes on where it stopped.

    \b
    Examples:
      rolecall retrain                  the embedded sample
      rolecall retrain --profile mine   your own data: see `rolecall profile`
    """
    from flows.commands.work import retrain as command

    command(profile, serve=serve)


@app.command()
def reproduce(profile: Profile = None) -> None:
    """Make Table 3: a network for each source of training data.

    The table is that of Neculoiu and others, 2016.

    \b
    Examples:
      rolecall reproduce                       with the default network
      rolecall reproduce --profile paper       with the network of that paper
      rolecall reproduce --profile similarity  the sentence pairs of the other three papers
    """
    from flows.commands.work import reproduce as command

    command(profile)


@app.command()
def profile(
    name: Annotated[str, typer.Argument(help="Of the profile: letters, digits, - and _.")],
    taxonomy: Annotated[Path, typer.Option(help="Your titles, one a row, with occupations.")],
    inputs: Annotated[Path | None, typer.Option(help="Titles as people wrote them.")] = None,
    synonyms: Annotated[Path | None, typer.Option(help="Words that mean the same.")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="Which column holds what, where the guess is wrong: title=Berufstitel."),
    ] = None,
    delimiter: Annotated[str, typer.Option(help="Between fields; default: as found.")] = "",
    encoding: Annotated[str, typer.Option(help="Of the files; default: as found.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite the profile.")] = False,
) -> None:
    """Look at your own files, and write a profile for them.

    Shows what it has guessed; every guess stands in profiles/NAME.yaml, to be changed.

    \b
    Examples:
      rolecall profile mine --taxonomy titles.csv --inputs raw.csv
      rolecall profile mine --taxonomy titles.csv --column title=Berufstitel --force
    """
    from flows.commands.profile import profile as command

    files = {"taxonomy": taxonomy, "inputs": inputs, "synonyms": synonyms}
    read = [f"--delimiter={delimiter}", f"--encoding={encoding}"]
    command(name, files, column or [], [*read, *(["--force"] if force else [])])


@app.command()
def status(profile: Profile = None) -> None:
    """Say what a run would do, and why.

    Nothing is run or changed.

    \b
    Examples:
      rolecall status
      rolecall status --profile mine
    """
    from flows.commands.status import status as command

    command(profile)


@app.command()
def registry(
    profile: Profile = None,
    address: Annotated[bool, typer.Option("--address", help="The address, and no more.")] = False,
) -> None:
    """List the registered versions and their decisions.

    Says where the registry is, and which version is champion.

    \b
    Examples:
      rolecall registry
      export MLFLOW_TRACKING_URI=$(rolecall registry --address)
    """
    from flows.commands.registry import registry as command

    command(profile, only_address=address)


@app.command()
def rollback(
    profile: Profile = None,
    to: Annotated[str | None, typer.Option(help="Version; default: the champion before.")] = None,
    why: Annotated[str, typer.Option(help="Kept with both versions.")] = "",
) -> None:
    """Make the champion before the last one champion again.

    Consumers that load models:/NAME@champion get it at their next load. Both versions keep when and
    why; a version that was taken back comes back only if it is named.

    \b
    Examples:
      rolecall rollback --why "nurses went to the cooks"
      rolecall rollback --to 3
    """
    from flows.commands.rollback import rollback as command

    command(profile, to, why)


@app.command()
def normalize(
    source: Annotated[str, typer.Argument(help="CSV or Parquet: a file, a folder, s3://…")],
    output: Annotated[Path, typer.Argument(help="Folder that is to hold the answers.")],
    model: Annotated[str, typer.Option(help="Address in the registry; default: champion.")] = "",
    column: Annotated[str, typer.Option(help="That holds the titles; default: as found.")] = "",
    prefix: Annotated[str, typer.Option(help="Before the names of the answer's columns.")] = "",
    top_k: Annotated[int | None, typer.Option(help="Answers to a title.")] = None,
    min_confidence: Annotated[float | None, typer.Option(help="Below it there is none.")] = None,
    levels: Annotated[int | None, typer.Option(help="Codes of the hierarchy; 0: all.")] = None,
    processes: Annotated[int | None, typer.Option(help="Default: one a core.")] = None,
    known: Annotated[Path | None, typer.Option(help="Folder of answers known before.")] = None,
) -> None:
    """Answer every row of files of any size.

    Writes a folder of Parquet files, the rows and columns as they came with the answers behind
    them, and manifest.json. Each distinct title is asked once; what is known stays in .known/ and
    need not be asked tomorrow. Interrupted or killed, the same command goes on behind the last
    finished part; OUTPUT is there when all of it is.

    \b
    Examples:
      rolecall normalize titles.csv answers
      rolecall normalize s3://board/vacancies answers --column headline --min-confidence 0.5
    """
    from flows.commands.normalize import normalize as command

    options: dict[str, object] = {"column": column, "prefix": prefix, "processes": processes}
    options |= {"top_k": top_k, "min_confidence": min_confidence, "levels": levels}
    command(source, output, model, options, known)


@app.command()
def review(
    answers: Annotated[Path, typer.Argument(help="Folder that `rolecall normalize` has written.")],
    output: Annotated[Path, typer.Argument(help="Folder that is to hold queue and page.")],
    profile: Profile = None,
    model: Annotated[str, typer.Option(help="Address; default: that which answered.")] = "",
    budget: Annotated[int, typer.Option(min=1, help="How many titles there is time for.")] = 200,
    before: Annotated[
        Path | None, typer.Option(help="Answers of an earlier model: what differs comes first.")
    ] = None,
) -> None:
    """Queue the titles of a run that are worth a person's minute.

    Those of many rows come first whose answer is likely wrong, close, or unlike all that the model
    knows. None is nearly another, no occupation takes all, and what people have judged is left out.

    Writes review.html, a page for the browser that needs no mouse and no network, and queue.csv,
    the same for a spreadsheet. What either gives belongs into the folder feedback/.

    \b
    Examples:
      rolecall review answers queue
      rolecall review answers queue --budget 50 --before answers_of_last_month
    """
    from flows.commands.review import review as command

    command(profile, answers, output, model, budget, before)


@app.command()
def feedback(profile: Profile = None) -> None:
    """Take in people's corrections, and put them to work at once.

    Reads the files of the folder feedback/ (feedback.folder of params.yaml), refuses bad rows with
    their reasons, and registers the champion once more with what people said, without training;
    the next `rolecall retrain` learns from it. What the champion knows already is no new version.

    \b
    Examples:
      rolecall feedback
      rolecall feedback --profile mine
    """
    from flows.commands.feedback import feedback as command

    command(profile)


@app.command()
def serve(
    profile: Profile = None,
    model: Annotated[str, typer.Option(help="Address in the registry; default: champion.")] = "",
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any that is free.")] = 8000,
    min_confidence: Annotated[
        float, typer.Option(help="From which on the best candidate is a match.")
    ] = 0.5,
) -> None:
    """Serve the registered model to spreadsheets, as a reconciliation service.

    OpenRefine takes its address under "Reconcile", "Add standard service": version 0.2 of the
    Reconciliation Service API. Stays until it is interrupted.

    \b
    Examples:
      rolecall serve
      rolecall serve --model models:/rolecall/3 --port 8001 --min-confidence 0.7
    """
    from flows.commands.serve import serve as command

    command(profile, model, host, port, min_confidence)


@app.command()
def notify(
    block: Annotated[str, typer.Argument(help="TYPE/NAME, as `prefect block ls` shows it.")],
) -> None:
    """Let a notification block of yours tell you whenever a run fails.

    Makes an automation on the server that PREFECT_API_URL names, or changes the one it has made.
    The block is yours: Prefect's page Blocks makes one for Slack, e-mail, a webhook and others.

    \b
    Examples:
      rolecall notify slack-webhook/team
    """
    from flows.commands.notify import notify as command

    command(block)


@app.command()
def benchmark(
    folder: Annotated[Path, typer.Argument(help="With queries, corpus_elements, annotations.")],
    model: Annotated[str, typer.Option(help="Address in the registry, or folder of a model.")],
    depth: Annotated[int, typer.Option(min=10, help="Places that count, and are written.")] = 1000,
    concepts: Annotated[
        bool, typer.Option(help="Let the elements of a concept rank as one, if there is a map.")
    ] = True,
    out: Annotated[Path | None, typer.Option(help="Folder for metrics, run and qrels.")] = None,
) -> None:
    """Measure a model on a published benchmark, such as MELO.

    The model's network embeds queries and corpus elements; the closest come first. Prints mean
    average precision, MRR and success@k, equal to those of trec_eval and ir-measures, with 95 %
    intervals, beside two systems that learn nothing.

    FOLDER holds tables without a header, tabs between fields: queries.tsv and corpus_elements.tsv
    (id, title), annotations.tsv (query, 0, element, 1), and if wanted concept_mapping.tsv (element,
    concept).

    \b
    Examples:
      rolecall benchmark melo/deu_q_de_c_de --model models:/rolecall-melo@champion
      rolecall benchmark melo/deu_q_de_c_de --model models:/rolecall/1 --depth 100 --out results
    """
    from flows.commands.benchmark import benchmark as command

    command(folder, model, depth, out, concepts=concepts)


if __name__ == "__main__":
    app()
