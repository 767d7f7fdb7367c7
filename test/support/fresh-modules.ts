import { vi } from 'vitest';

/** Before each file of a process: the file loads our modules again. Packages stay loaded. */
vi.resetModules();
