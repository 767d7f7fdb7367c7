import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { parseLimit } from '../shared/contract/limits.ts';

/** The address of `npm start`, to which `npm run dashboard` sends API requests. */
const SERVICE = 'http://localhost:8787';

// Tests set another NODE_ENV, with which the development version of React would be built.
process.env.NODE_ENV = 'production';

/** Moves the style sheet behind the text of index.html. In front of it, the text would be painted only when the style sheet has arrived. */
const textFirst: Plugin = {
  name: 'text-first',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => {
      const [link = ''] = /<link rel="stylesheet".*>/.exec(html) ?? [];
      return html.replace(link, '').replace('</body>', `${link}</body>`);
    },
  },
};

/** The dashboard is served under a path of the app's origin, so that its requests to the API need no CORS. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [react(), textFirst],
  define: { __MAX_UPLOAD_SIZE_BYTES__: parseLimit('MAX_UPLOAD_SIZE_BYTES', process.env.MAX_UPLOAD_SIZE_BYTES) },
  build: {
    target: 'baseline-widely-available',
    // Inlined files would need `data:` in the Content-Security-Policy.
    assetsInlineLimit: 0,
    // The polyfill is only for browsers older than the target.
    modulePreload: false,
    reportCompressedSize: false,
  },
  server: {
    proxy: {
      // The service rejects a write with a cookie from another origin, so the proxy replaces the origin.
      '/api': { target: SERVICE, headers: { origin: SERVICE } },
    },
  },
});
