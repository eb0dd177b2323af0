"""The charCNN of Wieting et al. 2016, section 3 (after Kim 2014): filters, largest response, dense.

Every filter looks at all windows of its width; its largest response is one value, and an optional
fully connected layer stands on these. No padding counts, except that a string shorter than a filter
has one window, filled with zeros. A response is a sum over positions, each of which depends on its
character alone: so a table of all characters' responses is made once a batch and looked up, which
takes a tenth of the time of `conv1d` on one core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.network.encoder import Encoder, EncoderSettings
from models.network.sequences import in_pieces, largest_state

if TYPE_CHECKING:
    from jaxtyping import Float, Int


@dataclass(frozen=True)
class ConvolutionSettings(EncoderSettings):
    """Shape of the network, the paper's values in brackets."""

    reads_characters: ClassVar[bool] = True

    max_length: int  # characters read of a title
    dim_character: int  # of a character's vector (300)
    widths: tuple[int, ...]  # of the filters of each bank (2, 3, 4, or 1 to 6)
    filters: tuple[int, ...]  # filters of each bank (175, 175, 175, or 25, 50, 75, 100, 125, 150)
    activation: Literal["relu", "tanh"]  # of the filters (tuned)
    fully_connected: Literal["tanh", "linear", "none"]  # of the last layer (tuned)
    dim: int  # of the last layer (300); unread without one
    dropout: float  # on the input of the last layer (tried in place of the L2 term)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dropout and self.fully_connected == "none":
            raise ValueError(
                f"dropout = {self.dropout}, but with fully_connected: none there is no last layer "
                "whose input to drop; set dropout to 0"
            )
        banks = f"widths = {self.widths}, filters = {self.filters}"
        if not self.widths or len(self.widths) != len(self.filters):
            raise ValueError(f"{banks}; give a count of filters for each width")
        if min(self.widths + self.filters) < 1 or len(set(self.widths)) < len(self.widths):
            raise ValueError(f"{banks}; choose different widths, and all 1 or more")
        if max(self.widths) > self.max_length:
            raise ValueError(f"{banks}; choose widths up to max_length = {self.max_length}")


class ConvolutionEncoder(Encoder):
    """Character ids to embeddings."""

    Settings: ClassVar[type] = ConvolutionSettings
    settings: ConvolutionSettings

    def __init__(self, settings: ConvolutionSettings, sizes: Sequence[int]) -> None:
        super().__init__(settings, sizes)
        self.characters = nn.Embedding(sizes[0], settings.dim_character, padding_idx=0)
        # only their parameters are used
        self.banks = nn.ModuleList(
            nn.Conv1d(settings.dim_character, count, width)
            for count, width in zip(settings.filters, settings.widths, strict=True)
        )
        connected = settings.fully_connected != "none"
        self.dense = nn.Linear(sum(settings.filters), settings.dim) if connected else None

    @property
    def dim(self) -> int:
        """Of the embedding: without a last layer as many as there are filters."""
        return sum(self.settings.filters) if self.dense is None else self.settings.dim

    def forward(  # type: ignore[override]  # one unit
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch dim"]:
        """Embed a padded batch; `lengths` are at least 1. An empty batch gives no rows."""
        # what each character gives at each position of a window, for each filter
        tables = [
            torch.einsum("ce,few->wcf", self.characters.weight, bank.get_parameter("weight"))
            for bank in self.banks
        ]

        def largest(ids: Tensor, lengths: Tensor) -> Tensor:
            return torch.cat([_largest(table, ids, lengths) for table in tables], dim=1)

        # bias and activation grow with the response, so they can wait until the largest is known
        bias = torch.cat([bank.get_parameter("bias") for bank in self.banks])
        responses = in_pieces(largest, ids, lengths) + bias
        responses = responses.relu() if self.settings.activation == "relu" else responses.tanh()
        if self.dense is None:
            return responses
        responses = functional.dropout(responses, self.settings.dropout, self.training)
        embeddings: Tensor = self.dense(responses)
        return embeddings.tanh() if self.settings.fully_connected == "tanh" else embeddings


def _largest(
    table: Float[Tensor, "width character filter"],
    ids: Int[Tensor, "batch length"],
    lengths: Int[Tensor, " batch"],
) -> Float[Tensor, "batch filter"]:
    """Take each filter's largest response to windows within the string, or to the first one."""
    padded = torch.cat([ids.T, ids.new_zeros(len(table) - 1, ids.shape[0])])
    responses = (
        functional.embedding(padded[at : at + ids.shape[1]], gives, padding_idx=0)
        for at, gives in enumerate(table.unbind())
    )
    return largest_state(reduce(torch.add, responses), (lengths - len(table) + 1).clamp(min=1))


ENCODER = ConvolutionEncoder
