"use strict";
// Draws every picture in the colours of the page, and again when those change.
(function () {
  const narrow = () => window.innerWidth < 640;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Two panels stand side by side where there is room, and below each other where there is none.
  function stack(layout) {
    layout.xaxis.domain = layout.xaxis2.domain = [0, 1];
    layout.yaxis.domain = [0.6, 1];
    layout.yaxis2 = Object.assign(layout.yaxis2, { domain: [0, 0.4], showticklabels: true });
    (layout.annotations || []).forEach((title, panel) => {
      if (title.yref === "paper") { title.x = 0.5; title.y = panel === 0 ? 1 : 0.4; }
    });
  }

  function draw(div) {
    const spec = JSON.parse(document.getElementById(div.id.replace("plot", "spec")).textContent);
    const stacked = narrow() && spec.layout.xaxis2;
    div.classList.toggle("stacked", Boolean(stacked));
    if (stacked) { stack(spec.layout); }
    const ink = colour("--ink"), line = colour("--line");
    const layout = Object.assign({}, spec.layout, {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: ink, size: narrow() ? 11 : 13 },
      margin: { l: 60, r: 15, t: 35, b: 50 }, hovermode: "closest",
    });
    for (const key of Object.keys(layout)) {
      if (/^[xy]axis/.test(key)) {
        layout[key] = Object.assign({ automargin: true, exponentformat: "power" }, layout[key],
          { gridcolor: line, zerolinecolor: line, linecolor: line });
      }
    }
    return Plotly.react(div, spec.data, layout,
      { responsive: true, displaylogo: false, scrollZoom: false });
  }

  const plots = () => Array.from(document.querySelectorAll(".plot"));
  const redraw = () => Promise.all(plots().map(draw));
  redraw().then(() => document.documentElement.setAttribute("data-drawn", plots().length));
  for (const query of ["(prefers-color-scheme: dark)", "print", "(max-width: 639px)"]) {
    window.matchMedia(query).addEventListener("change", redraw);
  }
})();
