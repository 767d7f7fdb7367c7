/** The pages of the dashboard that the README shows as pictures. */
export const PAGES = [
  { name: 'files', path: '/dashboard/', needsLogin: true, title: 'Files' },
  { name: 'api-keys', path: '/dashboard/api-keys', needsLogin: true, title: 'API keys' },
  { name: 'reference', path: '/dashboard/docs', needsLogin: true, title: 'API reference' },
  { name: 'login', path: '/dashboard/login', needsLogin: false, title: 'Login' },
] as const;

/** The sizes and colour schemes in which each page is shown. */
export const LOOKS = [
  { name: 'desktop-light', options: { viewport: { width: 1024, height: 640 }, colorScheme: 'light' } },
  { name: 'desktop-dark', options: { viewport: { width: 1024, height: 640 }, colorScheme: 'dark' } },
  { name: 'phone-light', options: { viewport: { width: 360, height: 640 }, colorScheme: 'light' } },
  { name: 'phone-dark', options: { viewport: { width: 360, height: 640 }, colorScheme: 'dark' } },
] as const;

export function screenshotFile(page: (typeof PAGES)[number]['name'], look: (typeof LOOKS)[number]['name']): string {
  return `${page}-${look}.png`;
}
