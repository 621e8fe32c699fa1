r"""Mathematics as MathML, which browsers draw themselves: nothing is loaded from elsewhere.

It is a renderer of Sphinx, chosen by ``html_math_renderer = "mathml"``.
"""

from docutils import nodes
from latex2mathml.converter import convert


def visit_inline(self, node):
    """Write a formula in a line."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_display(self, node):
    """Write a formula on a line of its own, wider ones in a box that scrolls."""
    formula = convert(node.astext(), display="block")
    self.body.append(f'<div class="math-display">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
