"""Recurrent dropout as a fresh mask on the hidden state at every step, to measure it.

The other way to read "dropout 0.2 on the recurrent units" (Neculoiu et al. 2016, section 3.1):
`models.encoders.recurrent` drops hidden-to-hidden *weights* once a batch, which PyTorch's fused
LSTM can run; here h(t-1) is masked before each step, which only a loop over time can. Gates as in
`torch.nn.LSTM`; without dropout the embeddings are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from models.encoders.recurrent import RecurrentEncoder

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

PARAMETERS = ("weight_ih", "weight_hh", "bias")


class StepMaskEncoder(RecurrentEncoder):
    """`RecurrentEncoder` with its parameters and names, and another dropout in training."""

    def forward(  # type: ignore[override]  # one unit
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch dim"]:
        """Embed a padded batch; outside training exactly as `RecurrentEncoder` does."""
        if not self.training:
            return super().forward(ids, lengths)
        if self.settings.mode == "paper":
            ids = self._window(ids, lengths)
            lengths = torch.full_like(lengths, self.settings.max_length)
        hidden = self._layers(self.characters(ids), lengths)
        inside = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        mean = (hidden * inside[:, :, None]).sum(dim=1) / lengths[:, None]
        embeddings: Tensor = self.dense(mean)
        return embeddings

    def _layers(
        self, steps: Float[Tensor, "batch length dim"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch length both"]:
        back = backwards(lengths.to(steps.device), steps.shape[1])
        for layer in range(self.settings.layers):
            if layer:
                steps = functional.dropout(steps, self.settings.dropout_between)
            ways = torch.stack([steps, _reordered(steps, back)])
            hidden = self._layer(layer, ways)
            steps = torch.cat([hidden[0], _reordered(hidden[1], back)], dim=-1)
        return steps

    def _layer(
        self, layer: int, ways: Float[Tensor, "2 batch length dim"]
    ) -> Float[Tensor, "2 batch length hidden"]:
        """One layer, both directions at once, each read from its own first step."""
        into, across, bias = (self._both(kind, layer) for kind in PARAMETERS)
        gates = torch.einsum("wbld,wgd->lwbg", ways, into) + bias[:, None]
        hidden = cell = gates.new_zeros(2, ways.shape[1], self.settings.hidden)
        outputs = []
        for gate in gates:  # (2, batch, 4 * hidden) of one step
            masked = functional.dropout(hidden, self.settings.dropout_recurrent)
            entry, forget, new, out = torch.baddbmm(gate, masked, across.mT).chunk(4, dim=-1)
            cell = forget.sigmoid() * cell + entry.sigmoid() * new.tanh()
            hidden = out.sigmoid() * cell.tanh()
            outputs.append(hidden)
        return torch.stack(outputs, dim=2)

    def _both(self, name: str, layer: int) -> Tensor:
        """A parameter of both directions, stacked; the two biases of PyTorch are summed."""
        if name == "bias":
            return self._both("bias_ih", layer) + self._both("bias_hh", layer)
        ways = (f"{name}_l{layer}", f"{name}_l{layer}_reverse")
        return torch.stack([getattr(self.blstm, way) for way in ways])


def backwards(lengths: Int[Tensor, " batch"], longest: int) -> Int[Tensor, "batch longest"]:
    """Places of each row from its last step to its first; padding stays where it is."""
    place = torch.arange(longest, device=lengths.device)
    mirrored = lengths[:, None] - 1 - place
    return torch.where(mirrored >= 0, mirrored, place)


def _reordered(
    steps: Float[Tensor, "batch length dim"], order: Int[Tensor, "batch length"]
) -> Float[Tensor, "batch length dim"]:
    return steps.gather(1, order[:, :, None].expand_as(steps))
