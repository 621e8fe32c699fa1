"""How the gallery finds pictures: those of figures and axes that a script keeps in a variable.

`chsic.plot` draws on figures that no window knows of, which sphinx-gallery's own scraper misses.
"""

from collections.abc import Iterable
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

from chsic import plot


def scrape(block, block_vars, gallery_conf):
    """Save the figures that a block of a script made, and return how to show them."""
    scope = block_vars["example_globals"]
    seen = scope.setdefault("_figures_seen", [])
    paths = []
    for figure in _figures(list(scope.values())):
        if not any(figure is other for other in seen):
            seen.append(figure)
            path = Path(next(block_vars["image_path_iterator"]))
            plot.save(figure, path)
            paths.append(str(path))
    return figure_rst(paths, gallery_conf["src_dir"])


def _figures(values: Iterable[object]) -> Iterable[Figure]:
    for value in values:
        if isinstance(value, Figure):
            yield value
        elif isinstance(value, Axes):
            yield value.get_figure(root=True)
        elif isinstance(value, tuple):
            yield from _figures(value)
