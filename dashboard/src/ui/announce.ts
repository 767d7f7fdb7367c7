/** The id of the live region for screen readers, which every page has. */
export const ANNOUNCEMENTS = 'announcements';

/** Announces a text to screen readers. */
export function announce(text: string): void {
  const region = document.getElementById(ANNOUNCEMENTS);
  if (!region) return;
  // The region is cleared first, because setting the same text again would not be announced.
  region.textContent = '';
  requestAnimationFrame(() => {
    region.textContent = text;
  });
}
