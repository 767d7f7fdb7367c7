import { SOAK_OPTIONS } from './support/soak-options.ts';

/** Prints at the end of a run of the soak what it left out, and by which option. */
export default function setup(): () => void {
  return () => {
    const lines = Object.entries(SOAK_OPTIONS)
      .filter(([name]) => process.env[name] === undefined)
      .map(([name, { value, adds, takes }]) => `  ${name}=${value} adds ${adds}${takes ? ` (${takes})` : ''}`);
    if (lines.length > 0) console.log(['This run of the soak left out (test/README.md):', ...lines].join('\n'));
  };
}
