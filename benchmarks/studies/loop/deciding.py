"""Who is champion after people answered: pick-up without training, then a retrained network.

The rules are the registry's: what people said is picked up with exemplars unless the gate shows
that others suffer, else as a look-up alone (`tasks/registry/corrections.py`); a retrained network
has to be shown to keep up with that champion (`tasks/judging/gate.py`).
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchmarks.studies.loop.standing import Standing, at_the_gate
from benchmarks.studies.loop.stream import Stream
from tasks.artefact.corrected import exemplify, learned, tell
from tasks.feedback import Judged
from tasks.judging.first_version import decide_corrected
from tasks.judging.gate import Verdict, decide

CHAMPION = "the champion"


@dataclass(frozen=True)
class PickedUp:
    """A champion with what people said since.

    Attributes:
        standing: the model.
        fell_back: whether it has the look-up alone.
        reason: of the gate, which was asked of it with exemplars.
    """

    standing: Standing
    fell_back: bool
    reason: str


def picked_up(champion: Standing, said: Judged, stream: Stream, folder: Path) -> PickedUp:
    """Put what people said to work in the champion's own network.

    Args:
        champion: as it stood when people were asked.
        said: all that they have said so far.
        stream: of what the gate asks.
        folder: for the artefacts.
    """
    params = stream.workspace.params
    place = Path(shutil.copytree(champion.folder, folder / "with_exemplars"))
    tell(place, said.told)
    known = learned(said.judged, params.evidence.label_weight)
    exemplify(place, said.judged["cleaned"], known)
    whole = Standing(place)
    asked = at_the_gate(whole, champion, gate_queries(stream, said), stream.index)
    verdict = decide_corrected(asked, CHAMPION, params.gate.harm)
    if verdict.promoted:
        return PickedUp(whole, fell_back=False, reason=verdict.reason)
    place = Path(shutil.copytree(champion.folder, folder / "look_up"))
    tell(place, said.told)
    return PickedUp(Standing(place, champion), fell_back=True, reason=verdict.reason)


def decided(challenger: Standing, champion: Standing, said: Judged, stream: Stream) -> Verdict:
    """Ask both the gate's queries, those that people's answers bring among them."""
    asked = at_the_gate(challenger, champion, gate_queries(stream, said), stream.index)
    return decide(asked, CHAMPION, stream.workspace.params.gate)


def gate_queries(stream: Stream, said: Judged) -> pl.DataFrame:
    """Return the profile's queries and the reserve of what people judged: schema `QUERIES`."""
    return pl.concat([stream.gate, said.queries])
