"""Spellings in languages against loops over the taxonomy's rows; answers in the language asked."""

from dataclasses import replace

import numpy as np
import pytest
from served_toy import (
    SPOKEN,
    SPOKEN_LABELS,
    embed,
    table,
    toy_normalizer,
    toy_normalizer_of_languages,
)

from models.serving.index import AliasIndex
from models.serving.labels import Spellings
from models.serving.model import Normalizer
from models.text.titles import clean_title

ROWS, LABELS = SPOKEN, SPOKEN_LABELS


@pytest.fixture(scope="module")
def normalizer() -> Normalizer:
    return toy_normalizer_of_languages()


def test_every_title_in_every_language_equals_the_loop(normalizer: Normalizer) -> None:
    """As the taxonomy writes it there, or in the first language that it is of."""
    spellings, index = normalizer.labels.spellings, normalizer.index
    assert spellings.languages == ["en", "", "de"]
    written = {(o, clean_title(t), language): t for o, t, language, _ in ROWS}
    pairs = [*dict.fromkeys((o, clean_title(t)) for o, t, *_ in ROWS)]
    occupations = np.array([index.occupations.index(o) for o, _ in pairs])
    titles = np.array([index.titles.index(t) for _, t in pairs])
    for number, language in enumerate(spellings.languages):
        positions = spellings.positions(occupations, titles, number)
        for pair, position in zip(pairs, positions.tolist(), strict=True):
            own = [one for one in (language, *spellings.languages) if (*pair, one) in written]
            assert spellings.texts(np.array([position])).to_pylist() == [written[*pair, own[0]]]
            assert spellings.languages[spellings.languages_of(np.array(position))] == own[0]
    for name, label in LABELS.items():
        code = index.occupations.index(name)
        for number, language in enumerate(spellings.languages):
            own = [
                t for o, t, spoken, first in ROWS if (o, spoken, first) == (name, language, True)
            ]
            assert spellings.labels[number, code] == (own or [label])[0]


def test_a_form_of_a_label_is_one_in_its_language_alone(normalizer: Normalizer) -> None:
    """The form "Pfleger" is half of the German label of the nurse, and an English alias."""
    rows = [
        ("nurse", "Pfleger/Pflegerin", "de", True),
        ("nurse", "Pfleger", "de", False),
        ("miller", "Pfleger", "en", False),
        ("nurse", "nurse", "en", True),
        ("nurse", "Schwester", "de", False),
        ("miller", "miller", "en", True),
    ]
    read = [(o, clean_title(t), t, spoken, first, "train") for o, t, spoken, first in rows]
    aliases = table("occupation_id title written language preferred split", read)
    index = AliasIndex.of(aliases["title"], aliases["occupation_id"])  # type: ignore[arg-type]
    spellings = Spellings.of(aliases, np.array(["miller", "nurse"], object))
    names = ("pfleger", "pfleger/pflegerin", "nurse", "schwester", "miller")
    at = [index.titles.index(name) for name in names]
    assert [spellings.is_label(1, title) for title in at[:4]] == [True, True, True, False]
    assert [spellings.is_label(0, at[0]), spellings.is_label(0, at[4])] == [False, True]
    titles = np.array([at[3], at[2], at[0]])
    labels = spellings.labels.reshape(-1)[spellings.label_numbers(np.array([1, 1, 0]), titles)]
    assert labels.tolist() == ["Pfleger/Pflegerin", "nurse", "miller"]


def test_the_closest_title_in_a_language_equals_the_loop(normalizer: Normalizer) -> None:
    spellings, index = normalizer.labels.spellings, normalizer.index
    queries = ["krankenpfleger", "general carer", "müller", "bread", "barista coffee"]
    hits = normalizer.search(queries, 4)
    for number, language in enumerate(spellings.languages):
        shown = spellings.closest(
            number, hits.occupations, hits.titles, embed(queries), normalizer.embeddings
        )
        for row, query in enumerate(queries):
            for column, code in enumerate(hits.occupations[row].tolist()):
                name = index.occupations[code]
                own = sorted(
                    {clean_title(t) for o, t, one, _ in ROWS if (o, one) == (name, language)}
                )
                near = [float(embed([query])[0] @ embed([title])[0]) for title in own]
                best = own[int(np.argmax(near))] if own else index.titles[hits.titles[row, column]]
                assert index.titles[shown[row, column]] == best


def test_the_answer_is_in_the_language_of_the_closest_title(normalizer: Normalizer) -> None:
    pfleger, nurse, barista, mueller = normalizer.predict(
        ["KRANKENPFLEGER", "registered nurse", "Barista", "Müller"]
    )
    assert (pfleger.occupation_label, pfleger.matched_title, pfleger.matched_language) == (
        *("Krankenpfleger", "Krankenpfleger", "de"),
    )
    assert (nurse.occupation_label, nurse.matched_language) == (LABELS["nurse"], "en")
    assert (barista.matched_title, barista.matched_language) == ("barista", "en")
    assert (mueller.occupation_label, mueller.matched_language) == ("Müller", None)


def test_the_answer_in_the_language_asked_for(normalizer: Normalizer) -> None:
    """Labels and titles where the taxonomy has them; the language of the closest title stays."""
    (answer,) = normalizer.predict(["Krankenpfleger"], language="en")
    assert (answer.occupation_id, answer.occupation_label) == ("nurse", LABELS["nurse"])
    assert answer.matched_title in {
        t for o, t, language, _ in ROWS if (o, language) == ("nurse", "en")
    }
    assert answer.top_titles[0] == answer.matched_title and answer.matched_language == "de"
    assert answer.score == pytest.approx(1)
    barista, baker, nothing = normalizer.predict(["barista", "baker", "???"], language="de")
    assert (barista.matched_title, barista.matched_language) == ("Barista", "de")
    assert (baker.occupation_label, baker.matched_title, baker.matched_language) == (
        *("baker", "baker", "en"),
    )
    assert (nothing.reason, nothing.matched_language) == ("no letters", None)


def test_occupations_and_scores_do_not_depend_on_the_language(normalizer: Normalizer) -> None:
    raw_titles = [title for _, title, *_ in ROWS] + ["coffee nurse", "bread", None]
    plain = normalizer.predict(raw_titles, 4)
    for language in ("en", "de"):
        spoken = normalizer.predict(raw_titles, 4, language=language)
        for name in ("top_occupation_ids", "top_scores", "reason"):
            assert plain.table[name].to_pylist() == spoken.table[name].to_pylist()


def test_a_label_in_any_language_keeps_its_occupation(normalizer: Normalizer) -> None:
    """The own labels come first: "Nurse" in German is an alias of one, the label of another."""
    more = ("baker", "krankenpfleger", "Krankenpfleger", "en", False, "train")
    columns = zip(normalizer.aliases.items(), more, strict=True)
    aliases = {name: [*values, one] for (name, values), one in columns}
    (answer,) = replace(normalizer, aliases=aliases).predict(["Krankenpfleger"])
    assert answer.occupation_id == "nurse"


def test_a_taxonomy_that_names_no_language_says_so() -> None:
    plain = toy_normalizer()
    unnamed = replace(
        plain, aliases=plain.aliases | {"language": [""] * len(plain.aliases["title"])}
    )
    (answer,) = unnamed.predict(["nurse"])
    assert (answer.occupation_label, answer.matched_language) == ("Nurse", None)
    with pytest.raises(ValueError, match="language = 'en'; this model knows none; leave it out"):
        unnamed.predict(["nurse"], language="en")
