import fc from 'fast-check';

/**
 * In continuous integration, random examples are the same in every run, so that a change is never red for the examples of another day.
 * Elsewhere each run tries new ones. A failure prints its seed.
 */
if (process.env.CI) fc.configureGlobal({ seed: 20_261_125 });
