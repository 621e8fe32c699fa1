"""The results to look at: both models along gamma and L, and separation everywhere."""

from benchmarks.measures.registry import IGNORE_Z, MEASURES
from benchmarks.measures.settings import Pair, along_gamma, along_size, shown, with_matched
from benchmarks.measures.summary import Index, Row, auc_of
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can tell apart; one for each family.
STYLES = {
    "HSIC": {"color": "0.55", "marker": "x"},
    "NOCCO": {"color": "0.55", "marker": "+"},
    "C-HSIC": {"color": "#0072B2", "marker": "o"},
    "C-HSIC debiased": {"color": "#0072B2", "marker": "v", "markerfacecolor": "white"},
    "C-HSIC coefficient": {"color": "#0072B2", "marker": "D", "markerfacecolor": "white"},
    "C-HSIC, median h": {"color": "#56B4E9", "marker": "o"},
    "chsic_test coefficient": {"color": "black", "marker": "*"},
    "conditional NOCCO": {"color": "#D55E00", "marker": "s"},
    "HSCIC": {"color": "#E69F00", "marker": "s"},
    "CDCor": {"color": "#009E73", "marker": "P"},
    "KPC": {"color": "#CC79A7", "marker": "^"},
    "T_n": {"color": "#CC79A7", "marker": "<", "markerfacecolor": "white"},
}
MODELS = {"M+": ("#0072B2", "-"), "M-": ("#D55E00", "--")}


def draw(rows: Index) -> Figure:
    figure = Figure(figsize=(20, 18), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[1, 2.4])
    axes = top.subplots(2, len(MEASURES), sharex="row", sharey=True)
    for column, measure in enumerate(MEASURES):
        unit = _unit(rows, measure)
        _curves(axes[0, column], rows, measure, along_gamma(), unit)
        _curves(axes[1, column], rows, measure, along_size(), unit)
        note = "\n(ignores z)" if measure in IGNORE_Z else ""
        title = measure.replace("C-HSIC ", "C-HSIC\n").replace("_test ", "_test\n")
        axes[0, column].set_title(title + note, fontsize=10)
        axes[0, column].set_xlabel("γ (dB), L = 100", fontsize=9)
        axes[1, column].set_xlabel("L, γ = 10 dB", fontsize=9)
    axes[0, 0].set_ylabel("largest mean + sd = 1", fontsize=9)
    axes[1, 0].set_ylabel("largest mean + sd = 1", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    top.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    matched, other = bottom.subplots(2, 1)
    _separation(matched, rows, [with_matched(pair) for pair in shown()])
    matched.set_title("Separation from a matched null, by dependence given z alone: "
                      "1 always, 0.5 never, 0 backwards", fontsize=10, loc="left")  # fmt: skip
    _separation(other, rows, shown())
    other.set_title("Separation from a null of another construction, which differs in more",
                    fontsize=10, loc="left")  # fmt: skip
    matched.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    return figure


def _unit(rows: Index, measure: str) -> float:
    """Return the largest mean + standard deviation on either model: values become comparable."""
    return max(row.mean + row.std for row in _rows(rows, measure, along_gamma() + along_size()))


def _rows(rows: Index, measure: str, pairs: list[Pair], model: str | None = None) -> list[Row]:
    found = []
    for pair in pairs:
        if model in (None, pair.null.scenario):
            found.append(rows[measure, pair.null, None])
        if model in (None, pair.alternative.scenario):
            found.append(rows[measure, pair.alternative, pair.null.name])
    return found


def _curves(ax: Axes, rows: Index, measure: str, pairs: list[Pair], unit: float) -> None:
    for model, (color, line) in MODELS.items():
        curve = _rows(rows, measure, pairs, model)
        against_gamma = len({row.n for row in curve}) == 1
        at = [row.gamma_db if against_gamma else row.n for row in curve]
        mean, std = ([getattr(row, name) / unit for row in curve] for name in ("mean", "std"))
        truth = "independent" if model == "M+" else "dependent"
        ax.plot(at, mean, color=color, ls=line, lw=1.6, label=f"{model}: {truth} given z")
        low, high = ([m + side * s for m, s in zip(mean, std, strict=True)] for side in (-1, 1))
        ax.fill_between(at, low, high, color=color, alpha=0.18, lw=0)
    ax.axhline(0, color="0.4", lw=0.6)
    ax.tick_params(labelsize=8)
    ax.grid(alpha=0.25)
    ax.margins(x=0.02)


def _separation(ax: Axes, rows: Index, pairs: list[Pair]) -> None:
    offsets = {m: (i - (len(MEASURES) - 1) / 2) * 0.065 for i, m in enumerate(MEASURES)}
    for measure in MEASURES:
        areas = [auc_of(rows, measure, pair) for pair in pairs]
        at = [place + offsets[measure] for place in range(len(pairs))]
        ax.plot(at, areas, ls="", markersize=6, label=measure, **STYLES[measure])
    for place in range(0, len(pairs), 2):
        ax.axvspan(place - 0.5, place + 0.5, color="0.95", zorder=0, lw=0)
    ax.axhline(0.5, color="0.4", lw=0.8)
    labels = [_label(pair) for pair in pairs]
    for before, after in ((" / ", "\n/ "), (", ", "\n"), ("-shared", "-\nshared")):
        labels = [label.replace(before, after) for label in labels]
    ax.set_xticks(range(len(pairs)), labels, fontsize=7)
    ax.set_xlim(-0.5, len(pairs) - 0.5)
    ax.set_ylim(-0.03, 1.03)
    ax.set_ylabel("AUC, H0 against H1")
    ax.grid(axis="y", alpha=0.25)


def _label(pair: Pair) -> str:
    """Leave out a matched null, of which the title speaks."""
    return pair.label.partition(" / ")[2] if pair.null.matched else pair.label
