"""
The theory against many data sets
=================================

The :doc:`theory </theory>` says how a statistic varies if x and y are independent given z, and how
the variance of the coefficient grows with it. With simulated data both can be looked at: draw the
data again and again.
"""

import numpy as np
import scipy.stats
from matplotlib.figure import Figure

import chsic

# %%
# Random signs of the residual products of *one* data set (grey) show how the estimate varies by
# chance; the line is the Pearson III law of the same three moments. The estimates of 300 other data
# sets of the same kind (blue) vary alike, and around zero.


def oscillating(rng, shared=0.0, n=150):
    """Let x and y follow z, and share a part of their noise."""
    z, e, h = rng.normal(size=(3, n))
    return np.sin(2 * z) + 0.5 * e, np.cos(2 * z) + 0.5 * h + shared * e, z


def tested(rng, **settings):
    """Test at one bandwidth and without a kernel on z: a family of one member."""
    return chsic.chsic_test(
        *oscillating(rng, **settings), bandwidth="median", augment=False, n_resamples=999, rng=0
    )


rng = np.random.default_rng(0)
draws = chsic.chsic_test(
    *oscillating(rng), bandwidth="median", augment=False, null="signs", rng=0
).null_distribution
estimates = np.array([tested(rng).estimate for _ in range(300)])
deviation = draws.std()
edges = np.linspace(-3, 6, 37)

figure = Figure(figsize=(9, 4), layout="constrained")
ax = figure.subplots()
grey, blue = {"color": "#BBBBBB"}, {"histtype": "step", "color": "#0072B2", "lw": 2}
ax.hist(draws / deviation, edges, density=True, label="signs, one data set", **grey)
ax.hist(estimates / deviation, edges, density=True, label="300 data sets", **blue)
at = np.linspace(-3, 6, 400)
law = scipy.stats.pearson3.pdf(at, scipy.stats.skew(draws))
ax.plot(at, law, color="#D55E00", label="Pearson III")
ax.legend(frameon=False)
ax.set(xlabel="estimate, in standard deviations under signs", ylabel="density", ylim=(0, 0.7))
ax.spines[["top", "right"]].set_visible(False)

# %%
# The coefficient is a squared length, so that its variance grows with it, about along a straight
# line that begins at the variance under signs. Each point stands for 60 data sets.

means, variances, at_zero = [], [], []
for shared in (0.0, 0.15, 0.3, 0.45, 0.6):
    results = [tested(rng, shared=shared) for _ in range(60)]
    coefficients = [result.coefficient for result in results]
    means.append(np.mean(coefficients))
    variances.append(np.var(coefficients))
    at_zero.append(np.mean([result.null_spread**2 for result in results]))

means, variances = np.array(means), np.array(variances)
above = variances - at_zero[0]
slope = (means * above).sum() / (means**2).sum()

figure = Figure(figsize=(9, 4), layout="constrained")
ax = figure.subplots()
error = variances * (2 / 59) ** 0.5  # of a variance, from 60 values
ax.errorbar(means, variances, error, fmt="o", color="#0072B2", capsize=3, label="60 data sets each")
ax.plot(means, at_zero[0] + slope * means, color="#D55E00", label="a straight line")
ax.plot([0], at_zero[:1], "s", color="#D55E00", label="variance under signs")
ax.legend(frameon=False, loc="upper left")
ax.set(xlabel="mean coefficient", ylabel="variance of the coefficient")
ax.spines[["top", "right"]].set_visible(False)
