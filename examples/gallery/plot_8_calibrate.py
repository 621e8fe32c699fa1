"""
Calibrate on your own design
============================

How often would the test be wrong on data like yours, and how strong must a dependence be for it to
be found? ``chsic.calibrate`` redraws x and y given z, once independently and once with their ranks
coupled in a share of the samples, and runs the test on each.
"""

import numpy as np
from matplotlib.figure import Figure

import chsic

day = chsic.datasets.summer()
effects = [0.1, 0.2, 0.4]
question = ("ice_cream", "rescues", "temperature")
result = chsic.calibrate(
    *question, data=day, n_sim=60, effect_sizes=effects, n_resamples=999, rng=0
)
print(result)

# %%
# Rates at level 0.05 with their 95 percent intervals; the first is the type I error. Sixty data
# sets are few, chosen so that this page is built quickly: ``n_sim=200`` or more is what to use.

rates = [result.rejection_rate(effect) for effect in result.effect_sizes]
low, high = np.transpose([result.interval(effect) for effect in result.effect_sizes])

figure = Figure(figsize=(9, 4), layout="constrained")
ax = figure.subplots()
spread = (rates - low, high - rates)
ax.errorbar(result.effect_sizes, rates, spread, fmt="o-", color="#0072B2", capsize=3)
ax.axhline(0.05, color="#999999", linestyle="--", lw=1, label="0.05")
ax.legend(frameon=False)
ax.set(xlabel="share of samples with coupled ranks", ylabel="rejected at 0.05", ylim=(0, 1.02))
ax.spines[["top", "right"]].set_visible(False)
