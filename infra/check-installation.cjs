// biome-ignore lint/style/useNodejsImportProtocol: old versions of Node do not know `node:`.
const { existsSync, readFileSync } = require('fs');
// biome-ignore lint/style/useNodejsImportProtocol: the same.
const { join } = require('path');

/**
 * Ends the process with one sentence when what `npm ci` installs is not all there, or this Node is too old for the project. The scripts
 * of package.json load it before anything else. Otherwise Node would fail at the first TypeScript file, or at the first import of a
 * package, with a message that does not say what to do.
 *
 * Node 12 must be able to read this file.
 */

const ROOT = join(__dirname, '..');
const read = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

/** The major version of the Node that the project brings as a package. */
const NEEDED = Number.parseInt(read('package.json').devDependencies.node, 10);

const sentence = missingPackages() || oldNode();
if (sentence !== undefined) {
  console.error(sentence);
  process.exit(1);
}

/** npm leaves out packages when NODE_ENV is `production`, when options such as `--omit` say so, or when it was interrupted. */
function missingPackages() {
  const missing = Object.entries(read('package-lock.json').packages)
    .filter(([path, entry]) => isNeeded(entry) && !existsSync(join(ROOT, path, 'package.json')))
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
  if (missing.length === 0) return undefined;
  const named =
    missing.length === 1 ? `The package ${missing[0]} is` : `${missing.length} packages, such as ${missing[0]}, are`;
  return `${named} not installed: run "npm ci --include=dev --include=optional".`;
}

/**
 * npm installs an optional package only where it works. With `libc` it depends on more than system and processor, and packages without
 * any condition belong to those of another system.
 */
function isNeeded({ optional, os, cpu, libc }) {
  if (!optional) return true;
  if (libc || !(os || cpu)) return false;
  return includes(os, process.platform) && includes(cpu, process.arch);
}

function includes(list, value) {
  return list === undefined || list.includes(value);
}

function oldNode() {
  const { version } = process;
  if (Number.parseInt(version.slice(1), 10) >= NEEDED) return undefined;
  return (
    `Node ${version.slice(1)} is too old, and the Node ${NEEDED} of the project is missing because npm was not allowed to run install ` +
    `scripts: run "npm rebuild node --ignore-scripts=false", or use Node ${NEEDED} or newer.`
  );
}
