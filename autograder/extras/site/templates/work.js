// The learner's work, as JupyterLite keeps it in the browser: how far each chapter is, and all of it as one zip file.
"use strict";

const STORAGE = "JupyterLite Storage - " + new URL(".", location.href).pathname;
const PROGRESS = ".autograder_progress.json";

// Every file that the learner saved, each as {path, type, format, content}; none where nothing was saved yet.
async function savedFiles() {
  const known = await indexedDB.databases();
  if (!known.some(({ name }) => name === STORAGE)) return [];
  const database = await answer(indexedDB.open(STORAGE));
  try {
    if (!database.objectStoreNames.contains("files")) return [];
    const store = database.transaction("files").objectStore("files");
    const [paths, models] = await Promise.all([answer(store.getAllKeys()), answer(store.getAll())]);
    return models.map((model, index) => ({ ...model, path: String(paths[index]) })).filter((model) => model.type !== "directory");
  } finally {
    database.close();
  }
}

function answer(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function bytesOf({ format, content }) {
  if (format === "base64") return Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  const text = typeof content === "string" ? content : JSON.stringify(content, null, 1) + "\n";
  return new TextEncoder().encode(text);
}

// A zip file with its entries stored as they are: notebooks are small, and any program can open it.
function zip(files) {
  const parts = [];
  const entries = [];
  let offset = 0;
  const now = new Date();
  const time = (now.getHours() << 11) | (now.getMinutes() << 5) | (now.getSeconds() >> 1);
  const day = ((now.getFullYear() - 1980) << 9) | ((now.getMonth() + 1) << 5) | now.getDate();
  for (const { path, bytes } of files) {
    const name = new TextEncoder().encode(path);
    const shared = [20, 0x0800, 0, time, day]; // version needed, names in UTF-8, stored
    const sizes = [crc32(bytes), bytes.length, bytes.length];
    const head = little([[4, 0x04034b50], ...shared.map((n) => [2, n]), ...sizes.map((n) => [4, n]), [2, name.length], [2, 0]]);
    parts.push(head, name, bytes);
    entries.push(
      little([[4, 0x02014b50], [2, 20], ...shared.map((n) => [2, n]), ...sizes.map((n) => [4, n]), [2, name.length],
        [2, 0], [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]),
      name,
    );
    offset += head.length + name.length + bytes.length;
  }
  const size = entries.reduce((sum, part) => sum + part.length, 0);
  const end = little([[4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, offset], [2, 0]]);
  return new Blob([...parts, ...entries, end], { type: "application/zip" });
}

function little(fields) {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [width]) => sum + width, 0)));
  let place = 0;
  for (const [width, number] of fields) {
    if (width === 2) view.setUint16(place, number, true);
    else view.setUint32(place, number, true);
    place += width;
  }
  return new Uint8Array(view.buffer);
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

async function download() {
  const said = document.getElementById("said");
  said.textContent = "";
  try {
    const files = await savedFiles();
    if (!files.length) {
      said.textContent = "There is nothing to download yet. Open a chapter first. Your changes are then saved in this browser.";
      return;
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(zip(files.map((file) => ({ path: file.path, bytes: bytesOf(file) }))));
    link.download = `my-work-${new Date().toISOString().slice(0, 10)}.zip`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    const notebooks = files.filter(({ type }) => type === "notebook").length;
    said.textContent = `${link.download} contains the last saved version of ${notebooks} notebook${notebooks === 1 ? "" : "s"}.`;
  } catch (error) {
    said.textContent = `The browser could not read your saved work (${error.message}). In each chapter, File › Download saves its notebook.`;
  }
}

async function showProgress() {
  const file = (await savedFiles()).find(({ path }) => path === PROGRESS);
  if (!file) return;
  const { chapters } = JSON.parse(new TextDecoder().decode(bytesOf(file)));
  let next = null;
  for (const item of document.querySelectorAll("li[data-chapter]")) {
    const standings = chapters[item.dataset.chapter] ?? {};
    const exercises = [...item.querySelectorAll("li[data-exercise]")];
    const open = exercises.filter(({ dataset }) => standings[dataset.exercise]?.status !== "done");
    for (const exercise of exercises) mark(exercise, !open.includes(exercise));
    next ??= open[0];
    if (!Object.keys(standings).length) continue;
    const minutes = open.reduce((sum, { dataset }) => sum + Number(dataset.minutes), 0);
    const left = minutes ? `, about ${minutes} minutes left` : "";
    const some = `${exercises.length - open.length} of ${exercises.length} exercises done${left}`;
    item.querySelector(".progress").textContent = open.length ? some : `🎉 You have solved all ${exercises.length} exercises.`;
  }
  const begin = document.getElementById("begin");
  if (!begin) return;
  const link = next?.querySelector("a").cloneNode(true);
  link?.classList.add("next");
  link?.prepend("Next: ");
  begin.replaceChildren(link ?? "🎉 You have solved every exercise of this course.");
}

// Put a sign in front of an exercise that is done, with its meaning for screen readers.
function mark(exercise, done) {
  exercise.querySelector(".sign")?.remove();
  if (!done) return;
  const sign = document.createElement("span");
  sign.className = "sign progress";
  sign.textContent = "✓ ";
  sign.setAttribute("role", "img");
  sign.setAttribute("aria-label", "done");
  exercise.prepend(sign);
}

document.getElementById("download").addEventListener("click", download);
// Also when the learner comes back to this page with the browser's own button.
addEventListener("pageshow", () => showProgress().catch(() => {}));
