"""The commands: ``chsic test``, ``screen``, ``alpha``, ``report``, ``measure`` and others."""

from __future__ import annotations

import importlib
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

import chsic
from chsic._util.files import is_stream, require_outputs, write_rows
from chsic.many.screen_result import ScreenedPair
from chsic.show.command_line.options import (
    AsJson,
    Categories,
    File,
    Given,
    Groups,
    Missing,
    MissingValues,
    NanPolicy,
    Numbers,
    Resamples,
    Seed,
    Stretch,
    Threads,
    Time,
    Weights,
    Within,
    X,
    Y,
    columns_about_rows,
    of_rows,
    open_file,
    read_question,
    source_of,
)
from chsic.show.command_line.paper_commands import demo, figure1, measure
from chsic.show.terminal import print_result, print_screen, say, say_json

app = typer.Typer(
    help="Is x still related to y once z is known?",
    epilog="Example: chsic test data.csv --x ice_cream --y rescues --given temperature",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    if version:
        say(f"chsic {chsic.__version__}")
        raise typer.Exit


@app.command("test")
def independence(
    file: File,
    x: X,
    y: Y,
    given: Given = None,
    groups: Groups = None,
    time: Time = None,
    stretch: Stretch = None,
    within: Within = False,
    weights: Weights = None,
    categories: Categories = None,
    numbers: Numbers = None,
    missing: Missing = None,
    nan_policy: NanPolicy = MissingValues.RAISE,
    alpha: Annotated[
        float | None, typer.Option(help="Neighbours of a sample.", show_default="by size")
    ] = None,
    resamples: Resamples = 9999,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Test whether x is still related to y once z is known: p-value, strength, interval.

    Numbers and dates are numbers, text is a category; the answer says which was taken for what.

    Example: chsic test data.csv --x ice_cream --y rescues --given temperature

    Example: zcat data.csv.gz | chsic test - --x dose --y outcome --given age,ward
    --categories ward --nan-policy omit
    """
    table, settings = open_file(file, categories, numbers, missing, nan_policy)
    about_rows = of_rows(groups, time, stretch, within, weights)
    question = read_question(table, settings, x, y, given, about_rows)
    result = chsic.chsic_test(
        question.x,
        question.y,
        question.z,
        **question.settings,
        alpha="auto" if alpha is None else alpha,
        n_resamples=resamples,
        workers=threads,
        rng=seed,
    )
    if as_json:
        say_json(result.to_dict())
    else:
        print_result(result)


@app.command()
def screen(
    file: File,
    given: Given = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns to be tested; all but confounders, groups, time and weights by default: "
            "a,b."
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Test the others against this column, not every pair.")
    ] = None,
    groups: Groups = None,
    time: Time = None,
    stretch: Stretch = None,
    within: Within = False,
    weights: Weights = None,
    categories: Categories = None,
    numbers: Numbers = None,
    missing: Missing = None,
    nan_policy: NanPolicy = MissingValues.RAISE,
    out: Annotated[
        Path | None, typer.Option(help="CSV file for all pairs.", show_default=False)
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="File in which finished pairs are kept: the same command goes on from it.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[
        float, typer.Option(help="Largest adjusted p-value of a relation.", min=0, max=1)
    ] = 0.05,
    show: Annotated[int, typer.Option(help="Pairs to print, smallest p-value first.", min=0)] = 20,
    resamples: Resamples = 9999,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Test every pair of columns, or every column against a target, given confounders.

    Columns that cannot be tested, such as constant ones, are skipped, and named with the reason.

    Example: chsic screen data.csv --given temperature

    Example: chsic screen genes.parquet --given age,batch --categories batch --target outcome
    --resume run.jsonl --out pairs.csv
    """
    outputs = [("--out", out), ("--resume", resume)]
    require_outputs([(option, path) for option, path in outputs if path], [source_of(file)])
    if resume is not None and is_stream(resume):
        raise ValueError(f"--resume: {resume} cannot be read again; name a file.")
    table, settings = open_file(file, categories, numbers, missing, nan_policy)
    of_z = table.split(given or [])
    about_rows = of_rows(groups, time, stretch, within, weights)
    named = columns_about_rows(table, about_rows).values()
    others = {*of_z, *named}
    tested = table.split(columns) if columns else [n for n in table.names if n not in others]
    if target is not None and target not in tested:
        tested.append(target)
    own = [name for name in named if name not in (*tested, *of_z)]
    screened = chsic.screen(
        table.read([*tested, *of_z, *own]),
        of_z,
        columns=tested,
        target=target,
        **about_rows,
        **settings,
        n_resamples=resamples,
        workers=threads,
        rng=seed,
        resume=resume,
        progress=True,
    )
    if out is not None:
        rows = [{**row, "warnings": " ".join(row["warnings"])} for row in screened.rows()]
        write_rows(out, [field.name for field in fields(ScreenedPair)], rows)
    if as_json:
        names = (
            "given",
            "target",
            "n_groups",
            "stretch",
            "stretch_unit",
            "within",
            "n_effective",
            "kinds",
            "skipped",
        )
        facts = {name: getattr(screened, name) for name in names}
        failed = [{"x": x, "y": y, "why": why} for (x, y), why in screened.failed.items()]
        say_json({**facts, "failed": failed, "pairs": screened.rows()})
    else:
        print_screen(screened, level, show)


@app.command("alpha")
def along_alpha(
    file: File,
    x: X,
    y: Y,
    given: Given = None,
    groups: Groups = None,
    time: Time = None,
    stretch: Stretch = None,
    within: Within = False,
    weights: Weights = None,
    categories: Categories = None,
    numbers: Numbers = None,
    missing: Missing = None,
    nan_policy: NanPolicy = MissingValues.RAISE,
    alphas: Annotated[
        str | None, typer.Option(help="Numbers of neighbours: 2,8,32.", show_default="2 to 64")
    ] = None,
    bandwidths: Annotated[
        str | None,
        typer.Option(help="In median distances: 0.6,1.2.", show_default="0.3 to 5"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Picture, as PNG, SVG or PDF.", show_default=False)
    ] = None,
    resamples: Resamples = 9999,
    seed: Seed = 0,
    threads: Threads = 1,
    as_json: AsJson = False,
) -> None:
    """Test again and again, along alpha and along the bandwidth.

    An answer that depends on them is not to be trusted.

    Example: chsic alpha data.csv --x ice_cream --y rescues --given temperature --out alpha.png
    """
    if not given:
        raise ValueError("--given: without a confounder there are no neighbours to choose.")
    if out is not None:
        figures = importlib.import_module("matplotlib.figure")  # what can fail should fail now
        if out.suffix not in (".png", ".svg", ".pdf"):
            raise ValueError(f"--out: a .png, .svg or .pdf file is needed, got {out}.")
        require_outputs([("--out", out)], [source_of(file)])
    table, settings = open_file(file, categories, numbers, missing, nan_policy)
    about_rows = of_rows(groups, time, stretch, within, weights)
    question = read_question(table, settings, x, y, given, about_rows)
    result = chsic.sensitivity(
        question.x,
        question.y,
        question.z,
        **question.settings,
        alphas=_numbers("--alphas", alphas),
        bandwidths=_numbers("--bandwidths", bandwidths),
        n_resamples=resamples,
        workers=threads,
        rng=seed,
    )
    if as_json:
        say_json(result.to_dict())
    else:
        say(*str(result).splitlines())
    if out is not None:
        from chsic import plot

        figure = figures.Figure(figsize=(10, 4), layout="constrained")
        plot.sensitivity(result, figure.subplots(1, 2))
        plot.save(figure, out)
        say(str(out), error=True)


@app.command()
def report(
    file: File,
    x: X,
    y: Y,
    out: Annotated[Path, typer.Option(help="HTML file.")],
    given: Given = None,
    groups: Groups = None,
    time: Time = None,
    stretch: Stretch = None,
    within: Within = False,
    weights: Weights = None,
    categories: Categories = None,
    numbers: Numbers = None,
    missing: Missing = None,
    nan_policy: NanPolicy = MissingValues.RAISE,
    resamples: Resamples = 9999,
    seed: Seed = 0,
    threads: Threads = 1,
) -> None:
    """Write a page about one question: the answer in words, pictures, and how to repeat it.

    The page is one file that needs no network, and can be printed and handed on.

    Example: chsic report data.csv --x ice_cream --y rescues --given temperature --out report.html
    """
    require_outputs([("--out", out)], [source_of(file)])
    table, settings = open_file(file, categories, numbers, missing, nan_policy)
    about_rows = of_rows(groups, time, stretch, within, weights)
    question = read_question(table, settings, x, y, given, about_rows)
    chsic.write_report(
        out,
        question.x,
        question.y,
        question.z,
        **question.settings,
        source=question.table.path,
        missing=missing or (),
        progress=True,
        n_resamples=resamples,
        workers=threads,
        rng=seed,
    )
    if not is_stream(out):
        say(str(out))


app.command()(measure)
app.command()(figure1)
app.command()(demo)


def _numbers(option: str, text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{option}: expected numbers such as 2,8,32, got {text!r}.") from None
