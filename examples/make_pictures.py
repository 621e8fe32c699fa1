"""Draw the pictures of the README into docs/images: ``python examples/make_pictures.py``.

That of the report needs Chromium and playwright.
"""

import shutil
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

import chsic
from chsic import plot

IMAGES = Path(__file__).parents[1] / "docs" / "images"


def main() -> None:
    """Draw and save them all."""
    day = chsic.datasets.summer()

    figure = Figure(figsize=(10, 8), layout="constrained")
    rows = figure.subplots(2, 2)
    for axes, name in zip(rows, ("rescues", "lemonade"), strict=True):
        plot.differences("ice_cream", name, "temperature", data=day, axes=tuple(axes))
    plot.save(figure, IMAGES / "differences.png")

    figure = Figure(figsize=(10, 9), layout="constrained")
    (top_left, top_right), (left, right) = figure.subplots(2, 2)
    ignoring = {name: values for name, values in day.items() if name != "temperature"}
    for screened, of_map, of_lines in (
        (chsic.screen(ignoring, rng=0), top_left, top_right),
        (chsic.screen(day, "temperature", rng=0), left, right),
    ):
        plot.heat_map(screened, level=0.01, ax=of_map)
        plot.network(screened, level=0.01, ax=of_lines)
    plot.save(figure, IMAGES / "screen.png")

    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        question = ("ice_cream", "rescues", "temperature")
        chsic.write_report(page, *question, data=day, source="chsic.datasets.summer", rng=0)
        photograph(page, IMAGES / "report.png")


def photograph(page: Path, picture: Path) -> None:
    """Take a picture of how a report begins in a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_page(viewport={"width": 900, "height": 1250}, color_scheme="light")
        tab.goto(page.as_uri())
        tab.wait_for_selector("html[data-drawn]")
        tab.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
