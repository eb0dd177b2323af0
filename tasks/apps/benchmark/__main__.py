"""`python -m tasks.apps.benchmark FOLDER --model ADDRESS`: a model beside the baselines.

In: a folder (`folder.py`) and a model (`model.py`); of `params.yaml`, the n-grams of TF-IDF and the
number of draws. Out: a table on the terminal and, if `--out` names a folder, `metrics.json`,
`run.trec` and `qrels.trec` in it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from models.reproducibility.seeding import child_seed
from tasks.apps.benchmark.folder import Benchmark, BenchmarkError, read_benchmark
from tasks.apps.benchmark.model import cosine, load_model
from tasks.apps.benchmark.ranking import as_table, figures, rank, write_qrels, write_run
from tasks.evaluation.params import EvaluateParams
from tasks.io.command import run
from tasks.io.frames import write_json
from tasks.io.section import load, load_run
from tasks.pipeline.lexical.params import LexicalParams
from tasks.pipeline.lexical.stage import lexical_systems
from tasks.pipeline.report.names import SYSTEMS, counted

MODEL = "model"


def main() -> None:
    """Measure, with the parameters and the registry of the working directory."""
    options = _options()
    if options.out is not None and options.out.exists() and not options.out.is_dir():
        raise BenchmarkError(f"{options.out} is no folder; name one that is to hold the results")
    benchmark = read_benchmark(options.folder, concepts=options.concepts)
    print(*_counts_in_words(benchmark), sep="\n")
    name, embed = load_model(options.model, Path.cwd())
    titles = benchmark.index.titles
    systems = {MODEL: cosine(embed, titles), **lexical_systems(titles, load(LexicalParams))}
    ranked = {one: rank(one, systems[one], benchmark, options.depth) for one in systems}
    seed = child_seed(load_run().seed, "benchmark")
    values = figures(ranked, load(EvaluateParams).bootstrap_draws, seed)
    print("", as_table(values, {**SYSTEMS, MODEL: name}), sep="\n")
    print("mean [95 % interval] over the queries, as ir-measures counts: 1 is best, 0 is worst")
    if options.out is not None:
        settings = {"benchmark": options.folder.name, "model": name, "depth": options.depth}
        systems_values = {
            system: {metric: vars(interval) for metric, interval in metrics.items()}
            for system, metrics in values.items()
        }
        metrics = {**settings, **_counts(benchmark), "systems": systems_values}
        write_run(benchmark, ranked[MODEL], options.out)
        write_qrels(benchmark, options.out)
        write_json(metrics, options.out / "metrics.json")
        print(f"written: metrics.json, run.trec and qrels.trec in {options.out}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tasks.apps.benchmark", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--depth", type=int, required=True)
    parser.add_argument("--no-concepts", dest="concepts", action="store_false")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def _counts(benchmark: Benchmark) -> dict[str, int]:
    return {
        "queries": len(benchmark.queries),
        "queries_left_out": benchmark.left_out,
        "elements": len(benchmark.elements),
        "documents": len(benchmark.index.occupations),
    }


def _counts_in_words(benchmark: Benchmark) -> list[str]:
    counts = _counts(benchmark)
    ranked = counted(counts["elements"], "corpus element")
    if counts["documents"] < counts["elements"]:
        ranked += f", which rank as {counted(counts['documents'], 'concept')}"
    lines = [f"{counted(counts['queries'], 'query', 'queries')}, {ranked}"]
    if benchmark.left_out:
        left = counted(benchmark.left_out, "query", "queries")
        lines.append(f"{left} without a relevant element left out")
    return lines


if __name__ == "__main__":
    run(main)
