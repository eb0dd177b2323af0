"""The head of the page: what data the model has seen, what the model is, how it was trained."""

from __future__ import annotations

from tasks.pipeline.report.markup import (
    Html,
    join,
    number,
    number_head,
    paragraph,
    section,
    table,
    tag,
)
from tasks.pipeline.report.names import count, counted, mix_words
from tasks.pipeline.report.report_data import ReportData

SPLITS = {
    "train": "in training and in the index",
    "heldout_alias": "kept out for the test Held-out alias",
    "valid": "kept out to choose when to stop",
    "gate": "kept out for the gate between challenger and champion",
}
SCORES = {"best": "its best alias counts", "soft": "all aliases count, by a soft maximum"}


def overview(report_data: ReportData) -> Html:
    """Make sections `data` and `model`."""
    return join([_data(report_data), _model(report_data)], "\n")


def headline(report_data: ReportData) -> Html:
    """Say the data and the model in two lines, under the title of the page."""
    counts, train = report_data.counts, report_data.params.network.train
    figures = (
        (counts["occupations"], "occupations"),
        (counts["aliases"], "aliases"),
        (counts["inputs"], "inputs"),
        (counts["inputs_labelled"], "of them labelled"),
        (counts["rejected_errors"], "rejected rows"),
    )
    items = [tag("li", tag("strong", count(value)), f" {name}") for value, name in figures]
    return join(
        [
            tag("ul", *items, class_="figures"),
            paragraph(
                f"Taxonomy: {report_data.params.reader}. "
                f"Model: mix {report_data.trained}, trained on {mix_words(report_data.trained)}; "
                f"{train.encoder.kind} encoder, {train.loss.kind} loss.",
                class_="lead",
            ),
        ],
        "\n",
    )


def _data(report_data: ReportData) -> Html:
    counts = report_data.counts
    splits = dict(report_data.aliases["split"].value_counts().iter_rows())
    rows: list[tuple[object, object, object]] = [
        ("Occupations", _count(counts["occupations"]), "the classes to find"),
        ("Aliases", _count(counts["aliases"]), "titles of occupations, the labels among them"),
    ]
    rows += [
        (f"– {name}", _count(splits.get(name, 0)), meaning) for name, meaning in SPLITS.items()
    ]
    rows += [
        ("Inputs", _count(counts["inputs"]), "raw titles as they come in"),
        ("– labelled", _count(counts["inputs_labelled"]), "with their occupation"),
        ("Rows read", _count(sum(counts["rows_read"].values())), "from all files of the data set"),
        ("– left out", _count(sum(counts["rejected"].values())), _reasons(counts["rejected"])),
        ("– of them rejected", _count(counts["rejected_errors"]), "for a fault in the row"),
    ]
    return section(
        "data",
        "The data",
        paragraph(
            "The split keeps every test query out of training and out of the index in which "
            "answers are looked up."
        ),
        table(
            "What was read, and how the aliases are split",
            ["Rows", number_head("Count"), "What it is"],
            rows,
        ),
    )


def _reasons(rejected: dict[str, int]) -> str:
    if not rejected:
        return "nothing was left out"
    named = (f"{reason}: {count(rows)}" for reason, rows in sorted(rejected.items()))
    return "; ".join(named)


def _model(report_data: ReportData) -> Html:
    network, weights = report_data.params.network, report_data.weights
    encoder, loss = network.train.encoder.kind, network.train.loss.kind
    evaluate = report_data.params.evaluate
    return section(
        "model",
        "The model",
        paragraph(
            "A Siamese network turns a title into an embedding of "
            f"{report_data.index_embeddings.shape[1]} numbers. A raw title is answered with the "
            "occupation whose aliases have the most similar embeddings "
            f"({SCORES[evaluate.occupation_score]}). The network has {counted(weights, 'weight')}."
        ),
        tag(
            "div",
            _parameters(f"Encoder: {encoder}", network.encoders[encoder]),
            _parameters(f"Loss: {loss}", network.losses[loss]),
            _parameters("Training", network.train.model_dump(exclude={"encoder", "loss"})),
            _parameters("Evaluation", evaluate.model_dump()),
            class_="columns",
        ),
    )


def _parameters(title: str, values: dict[str, object]) -> Html:
    rows = [(tag("code", name), number(_value(value))) for name, value in values.items()]
    return table(title, ["Parameter", number_head("Value")], rows)


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _count(value: int) -> Html:
    return number(count(value))
