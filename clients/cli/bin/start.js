import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';

// With the compile cache of an earlier run, the command starts in half the time.
enableCompileCache();

// In the repository this runs the TypeScript sources. The published package has only the JavaScript that is built from them.
const source = new URL('../src/main.ts', import.meta.url);
const built = new URL('../dist/main.js', import.meta.url);
await import((existsSync(source) ? source : built).href);
