/** Until a dialog that closes has tried to give the focus back, in milliseconds. */
const GIVEN_BACK = 50;

/**
 * Gives the focus to the page's content when what had it is gone, such as the button of a file that was deleted: else whoever
 * uses the keyboard would begin anew at the top.
 */
export function keepFocus(): void {
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true });
  }, GIVEN_BACK);
}
