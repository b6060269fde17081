// node run.mjs PYODIDE WHEEL SCRIPT FOLDER: runs SCRIPT in Pyodide, with NumPy, Matplotlib, the wheel, and FOLDER as /work.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, wheel, script, folder] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const python = await loadPyodide({ env: { MPLBACKEND: "agg" } });
const quiet = { messageCallback: () => {}, errorCallback: console.error, checkIntegrity: false };
await python.loadPackage(["numpy", "matplotlib", pathToFileURL(wheel).href], quiet);
python.FS.mkdirTree("/work");
python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, "/work");
python.FS.chdir("/work");
try {
  await python.runPythonAsync(readFileSync(script, "utf8"), { filename: script });
} catch (error) {
  // Node would print the line of Pyodide's own source, which is a megabyte long.
  console.error(`${error.name}: ${error.message}`);
  process.exit(1);
}
