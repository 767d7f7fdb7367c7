/** Says something aloud to whoever cannot see it, by the region of `index.html` that screen readers listen to. */
export function announce(text: string): void {
  const region = document.getElementById('announcements');
  if (!region) return;
  // The same words a second time would change nothing.
  region.textContent = '';
  requestAnimationFrame(() => {
    region.textContent = text;
  });
}
