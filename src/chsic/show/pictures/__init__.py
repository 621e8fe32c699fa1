"""What pictures show, as numbers and texts: computed here once, drawn by matplotlib and plotly.

Nothing here draws. Every picture is a frozen object with a title, a caption, labels and arrays;
`chsic.show.plot` draws it with matplotlib, and `chsic.show.report` with plotly.
"""
