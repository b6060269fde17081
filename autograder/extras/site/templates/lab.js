// What this site adds to JupyterLab: links to a cell, and the whole width for the notebook on a narrow screen.
"use strict";

const place = location.hash; // JupyterLab removes it from the address
const application = setInterval(async () => {
  if (!window.jupyterapp) return;
  clearInterval(application);
  await window.jupyterapp.restored;
  if (innerWidth < 700) await closePanels(window.jupyterapp);
  if (place.startsWith("#cell-id=")) showCell(window.jupyterapp.shell);
}, 50);

// Close the side panels, now and whenever a document is opened. View › Appearance shows them again.
async function closePanels({ commands, shell }) {
  for (const side of ["left", "right"]) {
    if (document.querySelector(`.jp-SideBar.jp-mod-${side}:not(.lm-mod-hidden)`)) {
      await commands.execute("application:toggle-side-tabbar", { side });
    }
  }
  const close = () => {
    shell.collapseLeft();
    shell.collapseRight();
  };
  close();
  // The list of files shows a document's folder a moment after the document.
  shell.currentChanged.connect(() => [0, 300, 1000, 2000].forEach((after) => setTimeout(close, after)));
}

// Scroll to the cell that the address names, as soon as the notebook is there.
function showCell(shell) {
  const opened = setInterval(async () => {
    const widget = shell.currentWidget;
    if (!widget?.context?.isReady || !widget.content?.widgets?.length) return;
    clearInterval(opened);
    await widget.revealed;
    widget.setFragment(place);
  }, 100);
}
