// Search and sort the tables of students. Without this script, the page shows the same tables in the order of the marks.
"use strict";
const collator = new Intl.Collator(undefined, {numeric: true, sensitivity: "base"});

function key(row, column) {
  const text = row.cells[column].textContent.trim();
  const number = /^-?[\d.]+( %)?$/.test(text) ? parseFloat(text) : NaN;
  return {text, number, empty: text === "–" || text === ""};
}

function compare(one, other) {
  if (one.empty || other.empty) return 0;
  return isNaN(one.number) || isNaN(other.number) ? collator.compare(one.text, other.text) : one.number - other.number;
}

function sort(table, head, column) {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map(row => ({row, key: key(row, column)}));
  // Empty cells come last in both directions.
  rows.sort((a, b) => (a.key.empty - b.key.empty) || (down ? -1 : 1) * compare(a.key, b.key));
  body.append(...rows.map(one => one.row));
}

function search(table, field, count) {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const text = (row.cells[0].textContent + " " + row.cells[row.cells.length - 1].textContent).toLowerCase();
    row.hidden = !words.every(word => text.includes(word));
    shown += !row.hidden;
  }
  count.textContent = words.length ? `${shown} of ${table.tBodies[0].rows.length}` : "";
}

document.querySelectorAll("table.sortable").forEach((table, number) => {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, head, column));
    head.append(button);
  });
  if (table.tBodies[0].rows.length <= 10) return;
  const label = document.createElement("label"), field = document.createElement("input"), count = document.createElement("output");
  field.type = "search";
  field.id = `search-${number}`;
  label.className = "search";
  label.append("Search for a student or a status: ", field, " ", count);
  field.addEventListener("input", () => search(table, field, count));
  table.parentElement.before(label);
});
