/** The region around all pages that screen readers listen to. */
export const ANNOUNCEMENTS = 'announcements';

/** Says something aloud to whoever cannot see it. */
export function announce(text: string): void {
  const region = document.getElementById(ANNOUNCEMENTS);
  if (!region) return;
  // The same words a second time would change nothing.
  region.textContent = '';
  requestAnimationFrame(() => {
    region.textContent = text;
  });
}
