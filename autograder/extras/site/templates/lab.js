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

// Close the side panels, now and whenever JupyterLab opens one by itself, as it does some time after it has opened a document.
// View › Appearance shows them again: after a press outside of the document or a shortcut, they stay as they are until the next document is opened.
async function closePanels({ commands, shell }) {
  for (const side of ["left", "right"]) {
    if (document.querySelector(`.jp-SideBar.jp-mod-${side}:not(.lm-mod-hidden)`)) {
      await commands.execute("application:toggle-side-tabbar", { side });
    }
  }
  let touched = false;
  const close = () => {
    if (touched) return;
    if (!shell.leftCollapsed) shell.collapseLeft(); // to close a closed one would call this again
    if (!shell.rightCollapsed) shell.collapseRight();
  };
  close();
  for (const type of ["pointerdown", "keydown"]) {
    addEventListener(type, ({ target, key, ctrlKey, metaKey }) => {
      touched ||= !target.closest?.("#jp-main-dock-panel") || ((ctrlKey || metaKey) && !["Control", "Meta", "Enter"].includes(key));
    }, true);
  }
  shell.layoutModified.connect(close);
  let current = shell.currentWidget; // JupyterLab reports the same document again when it gets the focus
  shell.currentChanged.connect(() => {
    if (!shell.currentWidget || shell.currentWidget === current) return;
    current = shell.currentWidget;
    touched = false;
    close();
  });
}

// Scroll to the cell that the address names, as soon as the notebook is there.
function showCell(shell) {
  const opened = setInterval(async () => {
    const widget = shell.currentWidget;
    if (!widget?.context?.isReady || !widget.content?.widgets?.length) return;
    clearInterval(opened);
    await widget.revealed;
    keepInView(widget, decodeURIComponent(place.slice("#cell-id=".length)));
  }, 100);
}

// Cells above that are rendered later push a cell away. So scroll again until it has stayed in view for two seconds.
function keepInView(widget, id) {
  let [touched, stayed, tries] = [false, 0, 0];
  for (const type of ["pointerdown", "keydown", "wheel"]) {
    addEventListener(type, () => { touched = true; }, { capture: true, once: true });
  }
  const scrolling = setInterval(() => {
    const node = widget.content.widgets.find(({ model }) => model.id === id)?.node;
    const top = node?.isConnected ? node.getBoundingClientRect().top : -1;
    stayed = top >= 0 && top < innerHeight - 100 ? stayed + 1 : 0;
    if (touched || stayed > 10 || ++tries > 300) clearInterval(scrolling);
    else if (!stayed) widget.setFragment(place);
  }, 200);
}
