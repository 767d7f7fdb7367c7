/** A closing dialog may take this long to restore the focus. */
const FOCUS_RETURN_MS = 50;

/**
 * Moves the focus to the page's content when the focused element is gone, such as the button of a deleted file. Otherwise
 * keyboard users would start again at the top of the page.
 */
export function keepFocus(): void {
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true });
  }, FOCUS_RETURN_MS);
}
