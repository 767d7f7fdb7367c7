import { vi } from 'vitest';

/** Runs before each test file of a process, so that the file loads our modules again. Packages stay loaded. */
vi.resetModules();
