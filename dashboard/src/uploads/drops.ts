/** Marks what is dragged out of a page of the dashboard, in this tab or another one. */
const FROM_DASHBOARD = 'application/x-file-hosting';

/**
 * True when files are dragged from outside. Browsers drag an image of a page, such as a thumbnail or the logo, together with a file of its
 * content, which nobody means to upload.
 */
export function bringsFiles(transfer: DataTransfer | null): boolean {
  return hasFiles(transfer) && transfer?.types.includes(FROM_DASHBOARD) !== true;
}

export function hasFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes('Files') === true;
}

/**
 * Keeps what is dropped from replacing the page, which is what browsers do with files and links. It works outside of React, so it also works
 * on the login page and when a page has crashed. Text can still be dropped into a field.
 */
export function guardDrops(): void {
  window.addEventListener('dragstart', ({ dataTransfer }) => dataTransfer?.setData(FROM_DASHBOARD, 'yes'));
  for (const name of ['dragover', 'drop'] as const) {
    window.addEventListener(name, (event) => {
      const { dataTransfer, target } = event;
      if (!hasFiles(dataTransfer) && target instanceof Element && target.closest('input, textarea')) return;
      event.preventDefault();
      if (dataTransfer) dataTransfer.dropEffect = 'none';
    });
  }
}
