"""The commands about the paper: ``chsic measure``, ``figure1`` and ``demo``."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import chsic
from chsic._util.files import require_outputs, write_csv
from chsic._util.progress import progress_bar
from chsic.kernels.bandwidth import Bandwidth
from chsic.measure.comparison import compare
from chsic.measure.figure1 import simulate
from chsic.show import sentences
from chsic.show.command_line.options import (
    AsJson,
    Categories,
    File,
    Missing,
    MissingValues,
    NanPolicy,
    Numbers,
    OutFolder,
    Seed,
    Workers,
    X,
    Y,
    open_file,
    read_question,
)
from chsic.show.terminal import print_comparisons, say, say_json


def measure(
    file: File,
    x: X,
    y: Y,
    given: Annotated[
        list[str], typer.Option(help="Confounding column z; several: a,b, or --given a --given b.")
    ],
    categories: Categories = None,
    numbers: Numbers = None,
    missing: Missing = None,
    nan_policy: NanPolicy = MissingValues.RAISE,
    alpha: Annotated[float, typer.Option(help="Mean number of partners of a sample.")] = 4.0,
    kernel: Annotated[str, typer.Option(help="Name of the kernel.")] = "gaussian",
    bandwidth: Annotated[
        str,
        typer.Option(help="h of kappa(s/h) = exp(-(s/h)^2): paper, median, a number; or two: a,b."),
    ] = "paper",
    controls: Annotated[int, typer.Option(help="Random prunings to compare with.", min=1)] = 20,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure how x and y depend on each other, with and without knowing z.

    Example: chsic measure data.csv --x ice_cream --y rescues --given temperature
    """
    question = read_question(
        *open_file(file, categories, numbers, missing, nan_policy), x, y, given
    )
    result = compare(
        question.x,
        question.y,
        question.z,
        **question.settings,
        alpha=alpha,
        kernel=kernel,
        bandwidth=_bandwidth(bandwidth),
        n_controls=controls,
        rng=seed,
    )
    if as_json:
        say_json(result.to_dict())
    else:
        print_comparisons({f"{_listed(x)}, {_listed(y)} | {_listed(given)}": result})


def figure1(
    out: OutFolder,
    trials: Annotated[int, typer.Option(help="Data sets at each point.", min=2)] = 200,
    seed: Seed = 0,
    workers: Workers = None,
) -> None:
    """Regenerate the paper's figure 1: a Monte Carlo over both models.

    Writes figure1.png, figure1.svg and figure1.csv, which holds every number in the figure.
    Two hundred trials take some minutes on two cores, ten take seconds.

    Example: chsic figure1 --trials 200 --seed 0 --out results
    """
    _require_figure1(out)
    for path in _write_figure1(out, trials, seed, workers):
        say(str(path))


def demo(
    out: OutFolder = Path("demo"),
    trials: Annotated[int, typer.Option(help="Data sets at each point.", min=2)] = 20,
    seed: Seed = 0,
    workers: Workers = None,
) -> None:
    """Measure the bundled example and both models of the paper, draw figure 1, write a report."""
    page = out / "report.html"
    _require_figure1(out, [("--out", page)])
    day = chsic.datasets.summer()
    given = day["temperature"]
    questions = {
        "ice cream sold, swimmers rescued | temperature": (day["ice_cream"], day["rescues"], given),
        "ice cream sold, lemonade sold | temperature": (day["ice_cream"], day["lemonade"], given),
        "model M+: x, y | z": chsic.datasets.m_plus(1000, 10.0, seed),
        "model M-: x, y | z": chsic.datasets.m_minus(1000, 10.0, seed),
    }
    say(
        "400 simulated summer days at a lake (chsic.datasets.summer), and the paper's two models",
        "at 10 dB, 1,000 samples each:",
        "",
    )
    print_comparisons({q: compare(*sample, rng=seed) for q, sample in questions.items()})
    say("", "The paper's figure 1:")
    for path in _write_figure1(out, trials, seed, workers):
        say(str(path))
    x, y, z = ({name: day[name]} for name in ("ice_cream", "rescues", "temperature"))
    result = chsic.write_report(page, x, y, z, source="chsic.datasets.summer", rng=seed)
    say("", f"{sentences.question(result)} {sentences.answer(result)}")
    say("The report, to be opened in a browser:", str(page))


def _require_figure1(out: Path, more: Sequence[tuple[str, Path]] = ()) -> None:
    """Raise before the long run, not after it, for what can fail."""
    importlib.import_module("matplotlib.figure")
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out: {out} is a file; name a folder.")
    require_outputs([*(("--out", path) for path in _paths_of_figure1(out)), *more])


def _paths_of_figure1(out: Path) -> list[Path]:
    return [out / f"figure1.{kind}" for kind in ("png", "svg", "csv")]


def _write_figure1(out: Path, trials: int, seed: int, workers: int | None) -> list[Path]:
    from chsic import plot

    with progress_bar("data sets") as progress:
        points = simulate(trials, seed, workers, progress)
    figure = plot.figure1(points)
    png, svg, table = paths = _paths_of_figure1(out)
    plot.save(figure, png)
    plot.save(figure, svg)
    write_csv(table, points)
    return paths


def _listed(options: list[str]) -> str:
    return ", ".join(options)


def _bandwidth(text: str) -> Bandwidth:
    """Read "paper", "0.5" or "0.5,median"."""

    def one(part: str) -> str | float:
        try:
            return float(part)
        except ValueError:
            return part.strip()

    for_x, comma, for_y = text.partition(",")
    return (one(for_x), one(for_y)) if comma else one(for_x)
