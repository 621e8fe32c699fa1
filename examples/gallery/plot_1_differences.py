"""
What z explains cancels in differences
======================================

Ice cream sales and swimmers in trouble rise together. Compare any two days, and you compare a warm
one with a cold one. Compare only days that were about equally warm, and what the temperature does
to both cancels: whatever pattern is left is not due to the temperature.
"""

from matplotlib.figure import Figure

import chsic
from chsic import plot

day = chsic.datasets.summer()

figure = Figure(figsize=(10, 8), layout="constrained")
for axes, name in zip(figure.subplots(2, 2), ("rescues", "lemonade"), strict=True):
    plot.differences("ice_cream", name, "temperature", data=day, axes=tuple(axes))

# %%
# Each point on the right is a pair of days. Nothing is left of the relation with rescues. That with
# lemonade remains, because the same visitors buy both. The test says it in numbers:

for name in ("rescues", "lemonade"):
    result = chsic.chsic_test("ice_cream", name, "temperature", data=day, rng=0)
    print(f"ice cream and {name}: {result}")

# %%
# Both results have a warning, and it is worth reading:

for sentence in result.warnings:
    print(sentence)
