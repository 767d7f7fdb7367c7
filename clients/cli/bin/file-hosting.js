#!/usr/bin/env node
// Old versions of Node can read this file, so it can say that they are too old.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 12)) {
  import('./start.js');
} else {
  console.error(`error: file-hosting needs Node 22.12 or newer, and this is Node ${process.versions.node}.`);
  process.exitCode = 1;
}
