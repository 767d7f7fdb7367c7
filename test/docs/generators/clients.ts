import { globSync } from 'node:fs';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import {
  type INSTALL,
  NPM_MODULES,
  npmTool,
  oapiCodegen,
  openApiGenerator,
  python,
  RUNTIME_OF_OAPI_CODEGEN,
  run,
  TOOLS,
  VERSIONS,
} from './tools.ts';

const PROGRAMS = join(import.meta.dirname, 'programs');

/** A client that another project's generator makes from the OpenAPI document, and the program of `programs/` that uses it. */
export interface GeneratedClient {
  readonly generator: string;
  readonly version: string;
  readonly language: string;
  /** The programs that must be on the machine. */
  readonly programs: readonly string[];
  /** What is installed from registries. */
  readonly tools: readonly (keyof typeof INSTALL)[];
  /** Writes the client into `client` of a directory. */
  generate(document: string, directory: string): Promise<unknown>;
  /** Fetches the libraries of the generated client, once. */
  fetchLibraries?(directory: string): Promise<unknown>;
  /** Compiles client and program, without the network. */
  compile(directory: string): Promise<unknown>;
  /** Runs the program. @returns what it prints: a line for each step that has worked. */
  use(directory: string, env: Readonly<Record<string, string>>): Promise<string>;
}

/** Imports every module of a package, because Python finds most mistakes only then. */
const IMPORT_ALL = (name: string) =>
  `import importlib, pkgutil, ${name} as p\nfor m in pkgutil.walk_packages(p.__path__, p.__name__ + "."): importlib.import_module(m.name)`;

const inPython = (name: string, program: string) => ({
  language: 'Python',
  compile: (directory: string) => python(['-c', IMPORT_ALL(name)], { cwd: join(directory, 'client') }),
  use: (directory: string, env: Readonly<Record<string, string>>) =>
    python([join(PROGRAMS, program)], { env: { ...env, PYTHONPATH: join(directory, 'client') } }),
});

const inTypeScript = (program: string) => ({
  language: 'TypeScript',
  async compile(directory: string) {
    await symlink(NPM_MODULES, join(directory, 'node_modules'));
    await copyFile(join(PROGRAMS, program), join(directory, 'program.ts'));
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    const libraries = 'es2023,dom,dom.iterable,dom.asynciterable';
    const resolution = [
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      '--target',
      'es2022',
      '--lib',
      libraries,
    ];
    await npmTool('tsc', ['--noEmit', '--strict', '--skipLibCheck', ...resolution, 'program.ts'], { cwd: directory });
    const outfile = join(directory, 'program.mjs');
    const entry = join(directory, 'program.ts');
    await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'silent' });
  },
  use: (directory: string, env: Readonly<Record<string, string>>) =>
    run(process.execPath, [join(directory, 'program.mjs')], { env }),
});

/** Go finds the modules that were fetched, and asks nobody else. */
const OFFLINE_GO = { CGO_ENABLED: '0', GOPROXY: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', GOWORK: 'off' };

const inGo = (program: string) => ({
  language: 'Go',
  async compile(directory: string) {
    await copyFile(join(PROGRAMS, program), join(directory, 'main.go'));
    await run('go', ['build', '-o', 'program', '.'], { cwd: directory, env: OFFLINE_GO });
  },
  use: (directory: string, env: Readonly<Record<string, string>>) => run(join(directory, 'program'), [], { env }),
});

const byOpenApiGenerator = (name: string) => ({
  generator: 'openapi-generator',
  version: VERSIONS.openApiGenerator,
  generate: (document: string, directory: string) => openApiGenerator(name, document, join(directory, 'client')),
});

const JARS = join(TOOLS, `java-${VERSIONS.openApiGenerator}`);
const CRATES = join(TOOLS, `rust-${VERSIONS.openApiGenerator}`);
const MODULES = join(TOOLS, 'go', 'module');

async function writeCrate(directory: string): Promise<void> {
  await mkdir(join(directory, 'src'));
  await copyFile(join(PROGRAMS, 'openapi_generator.rs'), join(directory, 'src/main.rs'));
  const crate = [
    '[package]',
    'name = "program"',
    'edition = "2021"',
    '[dependencies]',
    'openapi = { path = "client", default-features = false }',
    'tokio = { version = "1", features = ["macros", "rt"] }',
    '[profile.dev]',
    'debug = 0',
  ];
  await writeFile(join(directory, 'Cargo.toml'), crate.join('\n'));
}

export const CLIENTS: readonly GeneratedClient[] = [
  {
    ...byOpenApiGenerator('python'),
    ...inPython('openapi_client', 'openapi_generator.py'),
    programs: ['java', 'mvn', 'python3'],
    tools: ['jar', 'python'],
  },
  {
    ...byOpenApiGenerator('java'),
    language: 'Java',
    programs: ['java', 'javac', 'mvn'],
    tools: ['jar'],
    fetchLibraries: (directory) => {
      const pom = join(directory, 'client/pom.xml');
      return run('mvn', ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${JARS}`]);
    },
    compile(directory) {
      const sources = globSync(join(directory, 'client/src/main/java/**/*.java'));
      const program = join(PROGRAMS, 'OpenApiGenerator.java');
      return run('javac', ['-nowarn', '-proc:none', '-cp', `${JARS}/*`, '-d', directory, program, ...sources]);
    },
    use: (directory, env) => run('java', ['-cp', `${directory}:${JARS}/*`, 'OpenApiGenerator'], { env }),
  },
  {
    ...byOpenApiGenerator('go'),
    ...inGo('openapi_generator.go'),
    programs: ['java', 'mvn', 'go'],
    tools: ['jar'],
    async compile(directory) {
      const client = 'github.com/GIT_USER_ID/GIT_REPO_ID';
      const lines = ['module program', 'go 1.23', `require ${client} v0.0.0`, `replace ${client} => ./client`];
      await writeFile(join(directory, 'go.mod'), lines.join('\n'));
      await inGo('openapi_generator.go').compile(directory);
    },
  },
  {
    ...byOpenApiGenerator('rust'),
    language: 'Rust',
    programs: ['java', 'mvn', 'cargo'],
    tools: ['jar'],
    async fetchLibraries(directory) {
      await writeCrate(directory);
      await mkdir(CRATES, { recursive: true });
      await run('cargo', ['build', '--quiet'], { cwd: directory, env: { CARGO_TARGET_DIR: CRATES } });
      await copyFile(join(directory, 'Cargo.lock'), join(CRATES, 'Cargo.lock'));
    },
    async compile(directory) {
      await writeCrate(directory);
      await copyFile(join(CRATES, 'Cargo.lock'), join(directory, 'Cargo.lock'));
      const cargo = (...args: string[]) =>
        run('cargo', [...args, '--quiet', '--offline'], { cwd: directory, env: { CARGO_TARGET_DIR: CRATES } });
      await cargo('build');
      await copyFile(join(CRATES, 'debug/program'), join(directory, 'program'));
      // Only the libraries stay. What has the path of this directory in it is of no use to the next run.
      await cargo('clean', '-p', 'openapi', '-p', 'program');
    },
    use: (directory, env) => run(join(directory, 'program'), [], { env }),
  },
  {
    ...byOpenApiGenerator('typescript-fetch'),
    ...inTypeScript('openapi-generator.ts'),
    programs: ['java', 'mvn'],
    tools: ['jar', 'npm'],
  },
  {
    generator: 'openapi-python-client',
    version: VERSIONS.openApiPythonClient,
    ...inPython('file_hosting_client', 'openapi_python_client.py'),
    programs: ['python3'],
    tools: ['python'],
    generate: (document, directory) => {
      const output = ['--output-path', join(directory, 'client'), '--fail-on-warning'];
      return python(['-m', 'openapi_python_client', 'generate', '--path', document, ...output]);
    },
  },
  {
    generator: 'oapi-codegen',
    version: VERSIONS.oapiCodegen,
    ...inGo('oapi_codegen.go'),
    programs: ['go'],
    tools: ['go'],
    async generate(document, directory) {
      await mkdir(join(directory, 'client'));
      const options = ['-package', 'client', '-generate', 'types,client', '-o', 'client/client.gen.go'];
      return oapiCodegen([...options, document], { cwd: directory });
    },
    async fetchLibraries(directory) {
      await writeFile(join(directory, 'go.mod'), 'module program\n\ngo 1.25\n');
      await run('go', ['get', RUNTIME_OF_OAPI_CODEGEN], { cwd: directory });
      await run('go', ['mod', 'tidy'], { cwd: directory });
      await mkdir(MODULES, { recursive: true });
      for (const file of ['go.mod', 'go.sum']) await copyFile(join(directory, file), join(MODULES, file));
    },
    async compile(directory) {
      for (const file of ['go.mod', 'go.sum']) await copyFile(join(MODULES, file), join(directory, file));
      await inGo('oapi_codegen.go').compile(directory);
    },
  },
  {
    generator: 'openapi-typescript',
    version: VERSIONS.openApiTypescript,
    ...inTypeScript('openapi-typescript.ts'),
    programs: [],
    tools: ['npm'],
    generate: (document, directory) => npmTool('openapi-typescript', [document, '-o', join(directory, 'client.d.ts')]),
  },
  {
    generator: 'hey-api',
    version: VERSIONS.heyApi,
    ...inTypeScript('hey-api.ts'),
    programs: [],
    tools: ['npm'],
    generate: (document, directory) => npmTool('openapi-ts', ['-i', document, '-o', join(directory, 'client')]),
  },
];

export const nameOf = ({ generator, language }: GeneratedClient) => `${generator}, ${language}`;

/** The file that says that a client has been installed and compiled. Another version needs another one. */
export const markOf = ({ generator, language, version }: GeneratedClient) =>
  join(TOOLS, 'ready', `${generator}-${language}-${version}`);
