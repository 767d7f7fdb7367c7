import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import { packagesOf } from '../../infra/bundle/packages.ts';
import { ALLOWED_LICENCES, type Bom, licencesOf, sbomOf } from '../../infra/bundle/sbom.ts';

/** The bill of materials of what is deployed. */

let bom: Bom;
beforeAll(async () => {
  bom = await sbomOf(join(inject('assembly'), 'bundles'));
});

const names = () => bom.components.map((component) => component['bom-ref'].replace(/@[^@]+$/, ''));

test('the bill of materials has the packages whose code is deployed, and no tools', () => {
  expect(bom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'file-hosting' } } });
  expect(names()).toEqual(expect.arrayContaining(['@aws-sdk/client-dynamodb', '@middy/core', 'jose', 'react']));
  const { devDependencies } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
  const tools = Object.keys(devDependencies).filter((name) => /^(@biomejs|@types|aws-cdk|vite|cdk-)/.test(name));
  expect(tools.length).toBeGreaterThan(5);
  expect(names().filter((name) => tools.includes(name))).toEqual([]);
});

test('each dependency in the bill of materials is one of its components', () => {
  const known = new Set(bom.components.map((component) => component['bom-ref']));
  const named = bom.dependencies.flatMap(({ ref, dependsOn = [] }) =>
    ref.startsWith('file-hosting@') ? dependsOn : [ref, ...dependsOn],
  );
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('every package that is deployed has a licence that the policy allows', () => {
  const others = bom.components.filter((component) => {
    const licences = licencesOf(component);
    return licences.length === 0 || !licences.every((licence) => ALLOWED_LICENCES.includes(licence));
  });
  expect(others.map((component) => [component['bom-ref'], licencesOf(component)])).toEqual([]);
  const policy = readFileSync(join(import.meta.dirname, '../../SECURITY.md'), 'utf8');
  for (const licence of ALLOWED_LICENCES) expect(policy).toContain(`\`${licence}\``);
});

test('the package of a file is the innermost one, with its scope', () => {
  const files = ['shared/log.ts', 'node_modules/jose/a.js', '/x/node_modules/@a/b/node_modules/@c/d/e/f.js?url'];
  expect(packagesOf(files)).toEqual(['node_modules/@a/b/node_modules/@c/d', 'node_modules/jose']);
});
