"""The calibration laboratory: how often tests of conditional independence reject.

``python -m benchmarks.calibration`` runs every cell (method x scenario x d x n) of `cells`, on data
of `chsic.datasets.SCENARIOS` whose truth is known, and writes tables and a picture. It takes hours
and can be stopped at any time, even killed: the same command goes on where it was.
``--reduced`` takes a few minutes. ``--frontier`` runs rough functions of z in an hour.

cells    which methods meet which scenarios, and how often
methods  the tests: x, y, z -> p-value
chunk    repetitions of one cell, computed in a worker process
todo     what is left to do, worked out from what the journal has
journal  the p-values on disk, one line of JSON for each finished chunk
run      chunks to workers, lines to the journal
table    journal -> rejection rates with intervals, as CSV, JSON and Markdown
picture  rejection rates -> level and power

settings  what decided the defaults: rates along the settings of the test
checks    uniform p-values, and intervals that cover and are as wide as they should be
plasmodes    levels where z is real, x and y functions of it that were fitted, and noise
real_tables  the tables of plasmodes, which come with scikit-learn and statsmodels
"""

from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results" / "calibration"
