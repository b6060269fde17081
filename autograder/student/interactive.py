"""Implement ``interact(...)`` in a notebook: precompute all pictures, so that controls work without a kernel."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

from autograder.base.foreign import Json, Value
from autograder.sandbox.guest.drawing import MovingPicture, Shown
from autograder.student.notebook_check.front_end import show, shows_html

__all__ = ["interact", "page"]


# A light and a dark theme. In both, text on the tint has a contrast of at least 4.5 : 1.
STYLE = """
.ag-moving{--ink:#111;--paper:#fff;--tint:#56b4e9;--edge:#767676;color:var(--ink);background:var(--paper);
  font:14px/1.5 system-ui,sans-serif;max-width:46em;padding:.6em .8em;border:1px solid var(--edge);border-radius:4px}
[data-jp-theme-light=false] .ag-moving{--ink:#f2f2f2;--paper:#161616;--tint:#0068a3;--edge:#8c8c8c}
.ag-moving *{box-sizing:border-box}
.ag-moving p{margin:.4em 0}
.ag-moving .ag-title{font-weight:600}
.ag-moving .ag-controls>*{display:flex;flex-wrap:wrap;align-items:center;gap:.3em .8em;margin:.3em 0;padding:0;border:0}
.ag-moving legend{float:left;padding:0;margin-right:.8em}
.ag-moving label{display:inline-flex;align-items:center;gap:.5em;cursor:pointer}
.ag-moving input{accent-color:var(--tint);margin:0}
.ag-moving input[type=range]{width:12em}
.ag-moving input:focus-visible{outline:3px solid var(--ink);outline-offset:2px}
.ag-moving .ag-choice{padding:.1em .5em;border:1px solid var(--edge);border-radius:1em}
.ag-moving .ag-choice.ag-on{background:var(--tint)}
.ag-moving .ag-wide{overflow-x:auto}
.ag-moving table{border-collapse:collapse;margin:.4em 0;font-size:12px;color:inherit;table-layout:auto}
.ag-moving th,.ag-moving td{padding:.2em .35em;border:0;background:none;color:inherit;font-weight:400}
.ag-moving thead th{text-align:center}
.ag-moving tbody th{text-align:right;white-space:nowrap}
.ag-moving td{text-align:center;min-width:2.9em;font-variant-numeric:tabular-nums;transition:background-color .15s}
.ag-moving tbody tr{background:none!important}
.ag-moving td.ag-bar{text-align:left;width:22em}
.ag-moving .ag-bar span{display:block;height:1.1em;background:var(--tint);transition:width .15s}
@media (prefers-reduced-motion:reduce){.ag-moving *{transition:none!important}}
"""

SCRIPT = """
(() => {
const data = DATA, root = document.currentScript.closest(".ag-moving");
const make = (tag, parent, text, attributes) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  if (parent) parent.append(made);
  return made;
};
const at = data.at.slice(), group = "ag" + Math.random().toString(36).slice(2);
root.setAttribute("role", "group");
root.setAttribute("aria-label", data.title || "a picture to move");
root.replaceChildren();
make("style", root, STYLE);
if (data.title) make("p", root, data.title, {class: "ag-title"});
const controls = make("div", root, undefined, {class: "ag-controls"});
const wide = make("div", root, undefined, {class: "ag-wide"});
const said = make("p", root, undefined, {role: "status"});
const table = make("table", wide, undefined, {"aria-label": data.title || "numbers"});
const bars = !data.rows.length, cells = [];
if (!bars) {
  const head = make("tr", make("thead", table));
  make("td", head);
  for (const name of data.columns) make("th", head, name, {scope: "col"});
}
const body = make("tbody", table);
for (const row of bars ? data.columns : data.rows) {
  const line = make("tr", body);
  make("th", line, row, {scope: "row"});
  if (bars) {
    const number = make("td", line), bar = make("td", line, undefined, {class: "ag-bar", "aria-hidden": "true"});
    cells.push([number, make("span", bar)]);
  } else for (const _ of data.columns) cells.push([make("td", line)]);
}
let peak = 1;
for (const frame of data.frames) for (const n of frame.numbers || []) if (typeof n === "number") peak = Math.max(peak, Math.abs(n));
const draw = places => {
  let index = 0;
  data.controls.forEach((control, i) => { index = index * control.values.length + places[i]; });
  const frame = data.frames[index];
  table.hidden = !frame.numbers;
  (frame.numbers || []).forEach((n, i) => {
    const share = typeof n === "number" ? Math.abs(n) / peak : 0, [cell, bar] = cells[i];
    cell.textContent = n === 0 || typeof n === "string" ? n : n.toFixed(bars ? 3 : 2);  // a plain 0 is exactly that
    if (bar) bar.style.width = 100 * share + "%";
    else cell.style.backgroundColor = `color-mix(in srgb, var(--tint) ${100 * share}%, transparent)`;
  });
  if (said.textContent !== frame.said) said.textContent = frame.said;
};
data.controls.forEach((control, i) => {
  const first = control.values[0];
  if (typeof first === "boolean") {
    const label = make("label", make("div", controls)), box = make("input", label, undefined, {type: "checkbox"});
    make("span", label, control.name);
    box.checked = control.values[at[i]];
    box.addEventListener("change", () => { at[i] = control.values.indexOf(box.checked); draw(at); });
  } else if (typeof first === "string") {
    const set = make("fieldset", controls), labels = [];
    make("legend", set, control.name + ":");
    const light = place => labels.forEach((label, j) => label.classList.toggle("ag-on", j === place));
    const look = place => { light(place); draw(at.map((there, j) => j === i ? place : there)); };
    control.values.forEach((value, j) => {
      const label = make("label", set, undefined, {class: "ag-choice"});
      const radio = make("input", label, undefined, {type: "radio", name: group + i});
      make("span", label, value);
      labels.push(label);
      radio.checked = j === at[i];
      radio.addEventListener("change", () => { at[i] = j; look(j); });
      radio.addEventListener("focus", () => look(j));
      label.addEventListener("mouseenter", () => look(j));
    });
    set.addEventListener("mouseleave", () => look(at[i]));
    light(at[i]);
  } else {
    const line = make("div", controls), label = make("label", line, control.name);
    const slider = make("input", label, undefined, {type: "range", min: 0, max: control.values.length - 1, step: 1});
    const value = make("span", line, undefined, {"aria-hidden": "true"});
    const tell = () => { value.textContent = control.values[at[i]]; slider.setAttribute("aria-valuetext", control.values[at[i]]); };
    slider.value = at[i];
    slider.addEventListener("input", () => { at[i] = Number(slider.value); tell(); draw(at); });
    tell();
  }
});
// Arrows and the space bar are the control's here, not the notebook's: JupyterLab passes over what has this attribute. Only
// while Ctrl, Cmd or Shift is down does it hear of keys, as in Ctrl+S and Shift+Enter.
for (const input of controls.querySelectorAll("input")) {
  const hear = heard => event => {
    if (event.type === "focus" || ["Control", "Meta", "Shift"].includes(event.key)) input.toggleAttribute("data-lm-suppress-shortcuts", !heard);
  };
  for (const [type, heard] of [["focus", false], ["keydown", true], ["keyup", false]]) input.addEventListener(type, hear(heard));
}
draw(at);
new ResizeObserver(() => {  // what scrolls sideways can be reached by the keyboard
  if (wide.scrollWidth > wide.clientWidth) { wide.tabIndex = 0; wide.setAttribute("role", "region"); wide.setAttribute("aria-label", "the table"); }
  else for (const name of ["tabindex", "role", "aria-label"]) wide.removeAttribute(name);
}).observe(wide);
})();
"""


def page(data: Mapping[str, Json], png: str, words: str) -> str:
    """Return the HTML of an interactive picture from the script's ``data``, a still picture in base64 and its description."""
    script = SCRIPT.replace("STYLE", json.dumps(STYLE), 1).replace("DATA", _inside_script(data), 1)
    image = f'<img src="data:image/png;base64,{png}" alt="{escape(words)}" style="max-width:100%">'
    return f'<div class="ag-moving">{image}<script>{script}</script></div>'


def _inside_script(data: Mapping[str, Json]) -> str:
    # Escape <, so that neither </script> nor <!-- can occur in the script.
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")


def interact(
    compute: Callable[..., Value],
    controls: Mapping[str, Sequence[Value]],
    *,
    start: Mapping[str, Value] | None = None,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    title: str = "",
) -> None:
    """Show the result of ``compute`` as a table or bars, with controls for its arguments.

    A graded, printed or untrusted notebook shows a still picture of the start values.

    Args:
        compute: called with one value for each control. Returns numbers of shape (rows, columns), or (columns,) without
            rows, or a tuple of the numbers and a sentence about them.
        controls: the values of each control, in order. Numbers give a slider, ``[False, True]`` a checkbox, and strings a
            row of choices with a preview under the mouse.
        start: the start values. Defaults to the first value of each control.
        rows: the names of the rows. Empty for bars.
        columns: the names of the columns.
        title: the title of the picture.

    Raises any error of ``compute`` for the start values, and ``ValueError`` for numbers of another shape. For other values,
    the error is shown instead of the picture.
    """
    picture = MovingPicture(compute, controls, start or {}, rows, columns, title)
    first = picture.starting()
    shown, state = picture.at(first), picture.state(first)
    figure = picture.draw(shown, state)
    if not shows_html():
        return  # the figure stays open and is displayed as usual
    import matplotlib.pyplot as plt  # noqa: PLC0415 - slow to import and only needed for pictures

    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=100)
    plt.close(figure)
    png = base64.b64encode(image.getvalue()).decode("ascii")
    words = ". ".join(part for part in (title, state, _in_words(picture, shown), shown.caption) if part)
    with contextlib.redirect_stdout(io.StringIO()):  # output was already shown for the first picture
        frames = [_frame(picture, values) for values in picture.choices()]
    data = {
        "title": title,
        "rows": list(rows),
        "columns": list(columns),
        "controls": [{"name": name, "values": list(values)} for name, values in picture.controls.items()],
        "at": [list(values).index(value) for values, value in zip(picture.controls.values(), first, strict=True)],
        "frames": frames,
    }
    show(page(data, png, words), words, png)


def _frame(picture: MovingPicture, values: tuple[Value, ...]) -> dict[str, Json]:
    try:
        shown = picture.at(values)
    except Exception as error:  # noqa: BLE001 - a student's function may fail for some values
        return {
            "said": f"Nothing to see here: with {picture.state(values)}, your code gave {type(error).__name__}: {error}"
        }
    return {"numbers": [_number(number) for number in shown.numbers.ravel()], "said": shown.caption}


def _number(number: float) -> float | str:
    return float(f"{number:.4g}") if math.isfinite(number) else str(float(number))


def _in_words(picture: MovingPicture, shown: Shown) -> str:
    if picture.rows:
        return ""
    return ", ".join(f"{name}: {number:.3f}" for name, number in zip(picture.columns, shown.numbers, strict=True))
