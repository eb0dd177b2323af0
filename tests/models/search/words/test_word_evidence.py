"""Evidence of words for and against an answer, by hand."""

from __future__ import annotations

from math import log1p

import numpy as np
import pytest

from models.search.words.title_words import TitleWords
from models.search.words.word_evidence import EVIDENCE, WordEvidence, same_word

WORDS = WordEvidence(TitleWords.of(["hearse driver", "bus driver", "pizza chef", "driver"]))


@pytest.mark.parametrize(
    ("title", "alias", "label", "said"),
    [
        ("bus driver", "bus driver", "Bus driver", [0, 0, 0, 0, 0, 0, 0, 0]),
        ("driver", "hearse driver", "hearse driver", [0, 6 / 12, 6 / 12, 1, 0, log1p(3), 0, 0]),
        ("pizza", "pizza chef", "pizzaiolo", [0, 4 / 9, 1, 1, 0, 0, 1, 0]),
        ("tram driver", "drivers", "Wattmann/tram driver", [4 / 10, 0, 0, 0, 0, 0, 0, 0]),
        ("pm", "podiatrist", "", [1, 1, 0, 1, 1, 0, 0, 1]),
        ("!?", "driver", "driver", [1, 1, 1, 0, 0, 0, 0, 1]),
    ],
)
def test_by_hand(title: str, alias: str, label: str, said: list[float]) -> None:
    made = WORDS([title], [alias], [label], np.array([0.75]))
    assert made.shape == (1, len(EVIDENCE)) and made[0].tolist() == pytest.approx([*said, 0.25])
    assert WORDS([], [], [], np.zeros(0)).shape == (0, len(EVIDENCE))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("driver", "drivers", True),
        ("krankenpfleger", "krankenpflegerin", True),
        ("techer", "teacher", True),
        ("teahcer", "teacher", True),
        ("product", "production", False),
        ("baker", "barber", False),
        ("cook", "book", True),  # one letter: a spelling, as far as anybody can tell
        ("pm", "pma", False),
    ],
)
def test_forms_of_a_word(one: str, other: str, same: bool) -> None:
    assert same_word(one, other) == same_word(other, one) == same
