"""The head of the page: what data the model has seen, what the model is, how it was trained."""

from __future__ import annotations

from tasks.params import AllParams
from tasks.reporting.markup import Html, join, number, paragraph, section, table, tag
from tasks.reporting.material import Material
from tasks.reporting.names import STAGES, count, counted

SPLITS = {
    "train": "in training and in the index",
    "heldout_alias": "kept out for the test Held-out alias",
    "valid": "kept out to choose when to stop",
    "gate": "kept out for the gate between challenger and champion",
}


def overview(material: Material) -> Html:
    """Sections `data` and `model`."""
    return join([_data(material), _model(material.params, material.weights)], "\n")


def headline(material: Material) -> Html:
    """One line under the title of the page."""
    stage = material.trained
    return tag(
        "p",
        f"Taxonomy read as {material.params.ingest.taxonomy.reader}: "
        f"{counted(material.occupations.height, 'occupation')}, "
        f"{counted(material.aliases.height, 'alias', 'aliases')}. Network of stage {stage}: "
        f"trained on {STAGES.get(stage, 'stage ' + stage)}.",
        class_="lead",
    )


def _data(material: Material) -> Html:
    counts = material.counts
    splits = dict(material.aliases["split"].value_counts().iter_rows())
    rows: list[tuple[object, object, object]] = [
        ("Occupations", _count(counts["occupations"]), "the classes to find"),
        ("Aliases", _count(counts["aliases"]), "titles of occupations, the labels among them"),
    ]
    rows += [
        (f"– {name}", _count(splits.get(name, 0)), meaning) for name, meaning in SPLITS.items()
    ]
    rows += [
        ("Inputs", _count(counts["inputs"]), "raw titles as they come in"),
        ("– labelled", _count(counts["inputs_labelled"]), "with the occupation a person chose"),
        ("Rows read", _count(sum(counts["rows_read"].values())), "from all files of the data set"),
        ("Rows rejected", _count(sum(counts["rejected"].values())), _reasons(counts["rejected"])),
    ]
    return section(
        "data",
        "The data",
        paragraph(
            "An alias or input that stands in a test was never trained on, "
            "and never stands in the index that answers are looked up in."
        ),
        table("What was read, and how the aliases are split", ["", "Count", "What it is"], rows),
    )


def _reasons(rejected: dict[str, int]) -> str:
    if not rejected:
        return "nothing was left out"
    named = (f"{reason}: {count(rows)}" for reason, rows in sorted(rejected.items()))
    return "; ".join(named)


def _model(params: AllParams, weights: int) -> Html:
    encoder, loss = params.train.encoder, params.train.loss
    return section(
        "model",
        "The model",
        paragraph(
            "A Siamese network reads a title character by character and turns it into an "
            f"embedding of {encoder.dim} numbers. A raw title is answered with the occupation of "
            "the alias whose embedding is most similar to its own. The network has "
            f"{counted(weights, 'weight')}."
        ),
        tag(
            "div",
            _parameters("Encoder", encoder.model_dump()),
            _parameters("Loss", loss.model_dump()),
            _parameters("Training", params.train.model_dump(exclude={"encoder", "loss"})),
            _parameters("Evaluation", params.evaluate.model_dump()),
            class_="columns",
        ),
    )


def _parameters(title: str, values: dict[str, object]) -> Html:
    rows = [(tag("code", name), number(_value(value))) for name, value in values.items()]
    return table(title, ["Parameter", "Value"], rows)


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _count(value: int) -> Html:
    return number(count(value))
