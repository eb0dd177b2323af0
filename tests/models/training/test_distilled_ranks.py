"""The teacher's ranks: whom it finds near, who is drawn, and the loss as a loop."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import check_fields, checked
from teachers import TAUGHT, teacher_of

from models.text.featurizer import Featurizer
from models.training.batches import Pairs
from models.training.distilled_ranks import DistilledRanks, rank_loss
from models.training.strings import Strings

Toy = tuple[Strings, Pairs, Featurizer]


def drawn(step: int) -> torch.Generator:
    return torch.Generator().manual_seed(step)


def by_loop(own: tuple[np.ndarray, np.ndarray], teachers: tuple[np.ndarray, np.ndarray]) -> float:
    """Sum -p log q over the candidates, string after string, at temperatures 0.1; their mean."""

    def softmax(string: np.ndarray, candidates: np.ndarray) -> list[float]:
        norm = math.sqrt(sum(split * split for split in string))
        powers = []
        for candidate in candidates:
            cosine = sum(a * b for a, b in zip(string, candidate, strict=True))
            cosine /= norm * math.sqrt(sum(split * split for split in candidate))
            powers.append(math.exp(cosine / 0.1))
        return [power / sum(powers) for power in powers]

    total = 0.0
    for row in range(len(own[0])):
        wanted = softmax(teachers[0][row], teachers[1])
        said = softmax(own[0][row], own[1])
        total -= sum(p * math.log(q) for p, q in zip(wanted, said, strict=True))
    return total / len(own[0])


@pytest.mark.thorough
@given(seed=st.integers(0, 99), strings=st.integers(1, 5), candidates=st.integers(1, 4))
@settings(max_examples=30)
def test_equals_the_loop(seed: int, strings: int, candidates: int) -> None:
    """The network's embeddings are of any norm."""
    parts = [
        torch.randn(n, dim, generator=drawn(seed)) for dim in (3, 5) for n in (strings, candidates)
    ]
    parts[2:] = [torch.nn.functional.normalize(split) for split in parts[2:]]
    loss = checked(rank_loss)(*parts, TAUGHT)
    one, other, *teachers = (split.double().numpy() for split in parts)
    assert loss.item() == pytest.approx(by_loop((one, other), tuple(teachers)), rel=1e-4, abs=1e-5)


def test_golden() -> None:
    """Two candidates; the teacher's cosines are 1 and 0 at 1/ln 3: 3/4 and 1/4.

    A network that says the same has their entropy 0.5623; one to which both are alike ln 2.
    """
    half = 1 / math.log(3)
    settings = replace(TAUGHT, teacher_temperature=half, temperature=half)
    string, candidates = torch.tensor([[1.0, 0.0]]), torch.eye(2)
    assert rank_loss(string, candidates, string, candidates, settings).item() == pytest.approx(
        0.5623, abs=1e-4
    )
    alike = torch.ones(1, 2)
    assert rank_loss(alike, candidates, string, candidates, settings).item() == pytest.approx(
        math.log(2)
    )


def test_the_titles_of_the_table_that_the_teacher_knows(toy: Toy) -> None:
    """Each once, with places among these in the place of the teacher's; no validation query."""
    strings = toy[0]
    aliases = [strings.titles[row] for row in strings.aliases.tolist()]
    teacher = teacher_of([*strings.titles, "unheard of"], aliases[2:])
    ranks = DistilledRanks.of(teacher, strings)
    check_fields(ranks)
    assert ranks.rows.tolist() == strings.aliases.tolist()
    place = {title: row for row, title in enumerate(teacher.titles.texts)}
    for alias, vector, near in zip(aliases, ranks.vectors, ranks.nearest.tolist(), strict=True):
        assert torch.equal(vector, teacher.titles.table[place[alias]])
        wanted = [teacher.titles.texts[row] for row in teacher.nearest[place[alias]]]
        assert [aliases[row] for row in near] == wanted


def test_a_title_of_two_rows_is_taught_once(toy: Toy) -> None:
    """One of another role, before it, and the alias."""
    strings = toy[0]
    other = replace(strings, titles=["nurse", *strings.titles[1:]], aliases=strings.aliases[1:])
    ranks = DistilledRanks.of(teacher_of(["nurse"], ["nurse"]), other)
    assert [other.titles[row] for row in ranks.rows] == ["nurse"]
    assert ranks.nearest.tolist() == [[0]]


@pytest.mark.parametrize("known", [["unheard of"], ["unheard of", "nurse"]])
def test_a_teacher_of_other_titles(toy: Toy, known: list[str]) -> None:
    """It knows none of them, or an alias near to one of them that is none of them."""
    with pytest.raises(ValueError, match="knows other titles than these: rerun the stage teacher"):
        DistilledRanks.of(teacher_of(known, ["unheard of"]), toy[0])


def test_what_is_drawn(toy: Toy) -> None:
    """As often as wanted; aliases are distinct, near to one drawn; all of them are, in time."""
    strings = toy[0]
    aliases = [strings.titles[row] for row in strings.aliases.tolist()]
    ranks = DistilledRanks.of(teacher_of(strings.titles, aliases), strings)
    titles, aliases = checked(DistilledRanks.draw)(ranks, 9, drawn(1))
    assert len(titles) == 9
    assert len(set(aliases.tolist())) == len(aliases) <= 9
    assert set(aliases.tolist()) <= set(ranks.nearest[titles].flatten().tolist())
    again = ranks.draw(9, drawn(1))
    assert torch.equal(titles, again[0]) and torch.equal(aliases, again[1])
    assert not torch.equal(titles, ranks.draw(9, drawn(2))[0])
    titles, aliases = ranks.draw(2000, drawn(3))
    assert set(titles.tolist()) == set(range(len(ranks.rows)))
    assert set(aliases.tolist()) == set(ranks.nearest.flatten().tolist())
