"""Every encoder and every loss through the protocol: what the rest of the project relies on."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
import yaml
from loss_cases import NONE, check_zero
from onnx import TensorProto
from safetensors.torch import save
from shapes import checked
from torch import nn

from models.encoders.convolution import ConvolutionEncoder
from models.encoders.recurrent import RecurrentSettings
from models.network.embedding import embed_titles
from models.network.encoder import Encoder
from models.network.kinds import (
    encoder_class,
    encoder_settings,
    fit_featurizer,
    kind_of,
    kinds,
    load_model,
    loss_parts,
    loss_settings,
    make_encoder,
    plain,
    save_model,
)
from models.network.loss import PairBatch, Targets
from models.network.quantization import packed, unpacked
from models.reproducibility import write_bytes
from models.text.featurizer import Featurizer
from tasks.release.model_package.export import export_encoder, share_tables

PARAMS = yaml.safe_load((Path(__file__).parents[3] / "params.yaml").read_text(encoding="utf-8"))
TITLES = ["pastry chef", "c++ developer (m/f)", "a", "", "nurse", "chef de partie, night shift"]
WRITTEN = ["bäcker", "c++ 👩‍🍳", ""]
ENCODERS, LOSSES = kinds("encoders"), kinds("losses")
VARIANTS: list[tuple[str, dict]] = [(kind, {}) for kind in ENCODERS]
VARIANTS += [("recurrent", {"mode": "paper"}), ("char_lstm", {"output_gate": False})]
VARIANTS += [("convolution", {"fully_connected": name}) for name in ("tanh", "none")]
VARIANTS += [("attentive", {"pooling": name}) for name in ("last", "mean", "max")]
VARIANTS += [("attentive", {"bidirectional": False}), ("ngram_bag", {"within": "word"})]
every_variant = pytest.mark.parametrize(("kind", "changes"), VARIANTS)


def small(kind: str) -> dict:
    """Shrink the defaults of a kind: what is above 16 becomes 6."""
    values = PARAMS["encoders"][kind]

    def less(value):
        if isinstance(value, dict):
            return {name: less(item) for name, item in value.items()}
        if isinstance(value, list):
            return [less(item) for item in value]
        return 6 if isinstance(value, int) and not isinstance(value, bool) and value > 16 else value

    return {"kind": kind, **less(values)}


def network(kind: str, changes: dict | None = None) -> tuple[Featurizer, Encoder]:
    settings = encoder_settings(small(kind) | (changes or {}))
    featurizer = fit_featurizer(TITLES, settings)
    torch.manual_seed(2)
    return featurizer, make_encoder(settings, featurizer).eval()


def features(featurizer: Featurizer, titles: list[str]) -> list[np.ndarray]:
    return [p for ids in featurizer(titles).streams for p in (ids.padded(), ids.lengths)]


def assert_same(
    session: onnxruntime.InferenceSession,
    featurizer: Featurizer,
    encoder: Encoder,
    titles: list[str],
) -> None:
    """The exported network embeds titles as the encoder does."""
    names = [entry.name for entry in session.get_inputs()]
    fed = dict(zip(names, features(featurizer, titles), strict=True))
    expected = embed_titles(encoder, featurizer, titles).numpy()
    np.testing.assert_allclose(session.run(None, fed)[0], expected, atol=2e-6)


def test_every_kind_has_its_values_in_params() -> None:
    assert sorted(PARAMS["encoders"]) == ENCODERS
    assert sorted(PARAMS["losses"]) == LOSSES


@pytest.mark.parametrize("kind", ENCODERS)
def test_settings_are_their_kind_s_and_survive_json(kind: str) -> None:
    settings = encoder_settings({"kind": kind, **PARAMS["encoders"][kind]})
    assert kind_of(settings) == kind
    assert encoder_settings(json.loads(json.dumps(plain(settings)))) == settings


@pytest.mark.thorough
def test_no_kind_is_read_by_torchs_compiler(tmp_path: Path) -> None:
    """Its import takes seconds, which each stage that reads a network would pay."""
    for kind in ENCODERS:
        featurizer, encoder = network(kind)
        weights = encoder.state_dict()
        save_model(tmp_path / kind, featurizer, encoder.settings, weights, weights)
    code = (
        "import sys; from pathlib import Path; from models.network.kinds import load_model; "
        "[load_model(Path(folder)) for folder in sys.argv[1:]]; "
        "print('torch._dynamo' in sys.modules)"
    )
    command = [sys.executable, "-c", code, *(str(tmp_path / kind) for kind in ENCODERS)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.thorough
@every_variant
def test_an_embedding_is_of_its_title_alone(kind: str, changes: dict) -> None:
    featurizer, encoder = network(kind, changes)
    together = checked(embed_titles)(encoder, featurizer, TITLES)
    assert together.shape == (len(TITLES), encoder.dim)
    assert together.isfinite().all()
    for row, title in zip(together, TITLES, strict=True):
        alone = embed_titles(encoder, featurizer, [title])[0]
        torch.testing.assert_close(alone, row, atol=1e-5, rtol=0)
    norms = together.norm(dim=1)
    torch.testing.assert_close(norms[norms > 0], torch.ones_like(norms[norms > 0]))
    assert embed_titles(encoder, featurizer, []).shape == (0, encoder.dim)


@every_variant
def test_gradients_reach_every_weight(kind: str, changes: dict) -> None:
    featurizer, encoder = network(kind, changes)
    parts = [torch.from_numpy(split) for split in features(featurizer, TITLES)]
    encoder.train()(*parts).square().sum().backward()
    for name, weight in encoder.named_parameters():
        assert weight.grad is not None and weight.grad.abs().sum() > 0, name


@pytest.mark.thorough
@every_variant
def test_files_and_the_exported_network_give_the_same(kind, changes, tmp_path) -> None:
    """Ask other batches and lengths than those that the export traces, one string included."""
    featurizer, encoder = network(kind, changes)
    weights = encoder.state_dict()
    save_model(tmp_path, featurizer, encoder.settings, weights, weights)
    restored, loaded = load_model(tmp_path)
    assert (restored, loaded.settings) == (featurizer, encoder.settings)
    export_encoder(loaded, tmp_path / "encoder.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "encoder.onnx"))
    for titles in (TITLES, TITLES[4:5], ["developer " * 9, "", "nurses"]):
        assert_same(session, featurizer, encoder, titles)


@pytest.mark.thorough
@pytest.mark.parametrize("precision", ["half_byte", "byte", "single"])
@pytest.mark.parametrize("kind", ENCODERS)
def test_the_exported_network_reads_its_tables_from_the_weights(kind, precision, tmp_path) -> None:
    """And looks the same rows up, whether they are floats or packed; the graph itself is small."""
    featurizer, encoder = network(kind)
    weights = packed(encoder, precision)
    encoder.load_state_dict(unpacked(weights))
    file, beside = tmp_path / "encoder.onnx", tmp_path / "weights.safetensors"
    export_encoder(encoder, file)
    whole = file.stat().st_size
    write_bytes(save(weights), beside)
    share_tables(file, beside)
    tables = [
        split.weight
        for module in encoder.modules()
        if not isinstance(module, ConvolutionEncoder)  # multiplies its table before it looks it up
        for split in module.children()
        if isinstance(split, nn.Embedding)
    ]
    graph = onnx.load(file, load_external_data=False).graph
    assert whole - file.stat().st_size > 4 * sum(map(torch.numel, tables)) - 3000
    outside = sum(tensor.data_location == TensorProto.EXTERNAL for tensor in graph.initializer)
    assert outside == len(tables) * (1 if precision == "single" else 2)
    session = onnxruntime.InferenceSession(str(file))
    assert_same(session, featurizer, encoder, TITLES)


@pytest.mark.parametrize("kind", LOSSES)
def test_a_step_along_the_gradient_lowers_the_loss(kind: str) -> None:
    settings = loss_settings({"kind": kind, **PARAMS["losses"][kind]})
    loss = loss_parts(kind)[1]
    torch.manual_seed(4)
    embeddings = torch.randn(4, 8, requires_grad=True)
    table = torch.nn.functional.normalize(torch.randn(3, 8), dim=1)
    mask = torch.tensor([[False, True, True], [True, False, True]])
    targets = Targets(table, torch.tensor([0, 1]), lambda: mask)
    code = torch.tensor([0, 0, 1, 1])
    pairs = torch.tensor([[0, 1], [2, 3]]), code[:, None] != code, torch.tensor([[0, 2]])
    both = PairBatch(*pairs[0].T, *pairs[1:], targets=targets if settings.needs_targets else None)

    def value() -> torch.Tensor:
        torch.manual_seed(0)
        result = loss(embeddings, both, settings)
        torch.testing.assert_close(result.total, result.similar + result.dissimilar)
        return result.total

    before = value()
    (gradient,) = torch.autograd.grad(before, embeddings)
    assert before > 0 and gradient.abs().sum() > 0
    with torch.no_grad():
        embeddings -= 0.05 * gradient
    assert value() < before


@pytest.mark.parametrize("kind", LOSSES)
def test_no_pair_costs_nothing_and_keeps_the_path(kind: str) -> None:
    settings = loss_settings({"kind": kind, **PARAMS["losses"][kind]})
    embeddings = torch.randn(3, 8, requires_grad=True)
    none = torch.zeros(0, dtype=torch.long)
    targets = Targets(torch.eye(8), none, lambda: torch.zeros(0, 8, dtype=torch.bool))
    empty = PairBatch(
        none,
        none,
        torch.zeros(3, 3, dtype=torch.bool),
        NONE,
        targets=targets if settings.needs_targets else None,
    )
    check_zero(loss_parts(kind)[1](embeddings, empty, settings), embeddings)


def test_unknown_kinds_and_values() -> None:
    with pytest.raises(ValueError, match="encoders have no kind 'transformer'; choose"):
        encoder_class("transformer")
    values = {"kind": LOSSES[0], **PARAMS["losses"][LOSSES[0]]}
    with pytest.raises(ValueError, match=r"has the values .*; check \['surprise'\]"):
        loss_settings(values | {"surprise": 1})
    settings = loss_settings(values)
    assert replace(settings) == settings


def test_round_trip(tmp_path: Path, encoder_settings: Callable[..., RecurrentSettings]) -> None:
    settings = encoder_settings(layers=2, dropout_between=0.4)
    featurizer = fit_featurizer(WRITTEN, settings)
    networks = [make_encoder(settings, featurizer) for _ in range(2)]
    trained, initial = (network.state_dict() for network in networks)
    save_model(tmp_path, featurizer, settings, trained, initial)
    names = ["encoder.json", "featurizer.json", "initial.safetensors", "weights.safetensors"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    for name, values in (("featurizer", featurizer.values()), ("encoder", plain(settings))):
        text = json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False)
        assert (tmp_path / f"{name}.json").read_text() == f"{text}\n"
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for which, network in zip(("weights", "initial"), networks, strict=True):
        loaded, encoder = load_model(tmp_path, which)  # type: ignore[arg-type]
        assert loaded == featurizer
        assert encoder.settings == settings
        assert not encoder.training
        expected = embed_titles(network, featurizer, WRITTEN)
        assert torch.equal(embed_titles(encoder, loaded, WRITTEN), expected)
    save_model(tmp_path, featurizer, settings, trained, initial)
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"featurizer\.json"):
        load_model(tmp_path)
