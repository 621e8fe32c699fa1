r"""Mathematics as MathML, which browsers draw themselves: nothing is loaded from elsewhere.

It is a renderer of Sphinx, chosen by ``html_math_renderer = "mathml"``. A formula that ends in
``\tag{7}`` has its number at the right, and the anchor ``#eq-7``.
"""

import re

from docutils import nodes
from latex2mathml.converter import convert

TAG = re.compile(r"\s*\\tag\{(\w+)\}\s*$")


def visit_inline(self, node):
    """Write a formula in a line."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_display(self, node):
    """Write a formula on a line of its own, wider ones in a box that scrolls."""
    source = node.astext()
    tag = TAG.search(source)
    formula = convert(TAG.sub("", source), display="block")
    formula = f'<div class="math-display">{formula}</div>'
    if tag is not None:
        number = f'<span class="eqno">({tag[1]})</span>'
        formula = f'<div class="math-numbered" id="eq-{tag[1]}">{formula}{number}</div>'
    self.body.append(f"{formula}\n")
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
