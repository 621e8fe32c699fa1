"""
Many columns at once
====================

All pairs of columns, first ignoring the temperature and then given the temperature. What pairs have
in common is computed once, and p-values are adjusted for the number of pairs.
"""

from matplotlib.figure import Figure

import chsic
from chsic import plot

day = chsic.datasets.summer()
sales = {name: values for name, values in day.items() if name != "temperature"}
ignoring = chsic.screen(sales, rng=0)
given = chsic.screen(day, given="temperature", rng=0)

figure = Figure(figsize=(10, 9), layout="constrained")
for row, screen in zip(figure.subplots(2, 2), (ignoring, given), strict=True):
    plot.heat_map(screen, level=0.01, ax=row[0])
    plot.network(screen, level=0.01, ax=row[1])

# %%
# Every pair, the most related first:

for pair in sorted(given, key=lambda pair: pair.pvalue):
    print(f"{pair.x:10} {pair.y:10} {pair.coefficient:7.3f}  adjusted p = {pair.pvalue_bh:.2g}")
