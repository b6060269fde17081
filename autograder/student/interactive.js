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
