"""
The paper's figure 1
====================

Two models tell conditional from marginal dependence. In M+ x and y are related only through z; in
M- they are unrelated until z is known. ``chsic figure1 --trials 200`` draws the figure as in the
paper; a few trials for each point are enough to see it.
"""

from chsic import plot
from chsic.measure.figure1 import simulate

figure = plot.figure1(simulate(trials=12, workers=1))

# %%
# Top: HSIC rises with the signal, and so do pairs chosen at random. C-HSIC with four partners for
# each sample does not. With 64 of only 100 samples pairs are not close in z, and it behaves more
# like HSIC. Bottom: HSIC sees nothing, C-HSIC does.
#
# Values under independence are not zero, and shrink as L grows: compare them at equal L only, and
# use a test to decide.
