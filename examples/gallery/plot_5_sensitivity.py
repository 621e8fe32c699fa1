"""
Does the answer depend on the settings?
=======================================

No single alpha or bandwidth is right for all data. An answer that hangs on one of them is not much
of an answer: look at it along both.
"""

from matplotlib.figure import Figure

import chsic
from chsic import plot

day = chsic.datasets.summer()
figure = Figure(figsize=(10, 7), layout="constrained")
for axes, name in zip(figure.subplots(2, 2), ("rescues", "lemonade"), strict=True):
    result = chsic.sensitivity("ice_cream", name, "temperature", data=day, rng=0)
    plot.sensitivity(result, axes=tuple(axes))
    axes[0].set_title(f"ice cream and {name}", loc="left", fontsize=11)

# %%
# Along the whole range, ice cream and rescues (top) show no sign of a relation given the
# temperature, and ice cream and lemonade (bottom) are related (p-values below 1e-6 are drawn
# there). Very large alpha compares days that were not equally warm: a small p-value that appears
# only there is no answer to the question.
