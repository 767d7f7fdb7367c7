import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** The versions of everything that makes, compiles and runs clients. */
export const VERSIONS = {
  openApiGenerator: '7.25.0',
  openApiPythonClient: '0.29.1',
  oapiCodegen: '2.8.2',
  openApiTypescript: '7.13.0',
  heyApi: '0.99.0',
  schemathesis: '4.32.5',
} as const;

/** What generated clients need, in versions that their makers accept. */
const LIBRARIES = {
  python: ['pydantic==2.14.4', 'urllib3==2.8.0', 'python-dateutil==4.0.0', 'typing-extensions==4.16.0'],
  npm: ['openapi-fetch@0.17.0', 'typescript@5.9.3', '@types/node@24.19.2'],
  go: 'github.com/oapi-codegen/runtime@v1.9.0',
};

/** Versions of TypeScript that the client's types are checked with, besides that of the project. */
export const COMPILERS = ['5.0.4', '6.0.3'];

/** Runtimes that the TypeScript client is tried in, besides Node and Chromium: the arguments before those of the program. */
export const RUNTIMES = { 'deno@2.9.6': ['run', '--allow-all'], 'bun@1.4.5': [] } as const;

/** Where the tools are installed. They are no dependencies of the project, because they are large and need many languages. */
export const TOOLS =
  process.env.CLIENT_GENERATORS ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'file-hosting-generators');

const GENERATOR_JAR = join(TOOLS, `openapi-generator-cli-${VERSIONS.openApiGenerator}.jar`);
const PYTHON = join(TOOLS, 'python');
const NPM = join(TOOLS, 'npm');

/** The compiler of a version. Each has a folder of its own, because npm would link all of them to one `tsc`. */
const folderOfCompiler = (version: string) => join(TOOLS, `typescript-${version}`);
export const compilerOf = (version: string) => join(folderOfCompiler(version), 'node_modules/typescript/bin/tsc');

const folderOfRuntime = (runtime: string) => join(TOOLS, runtime);
export const commandOf = (runtime: string) =>
  join(folderOfRuntime(runtime), 'node_modules/.bin', runtime.replace(/@.*/, ''));

/** A program may not wait for the network forever, or for anything else. */
const PROGRAM_MAX_MS = 10 * 60_000;

export interface Settings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program. @returns what it prints. @throws Error with what it has printed, when it fails. */
export async function run(command: string, args: readonly string[], { cwd, env = {} }: Settings = {}): Promise<string> {
  // Generators call the formatters that stand beside them.
  const PATH = [join(PYTHON, 'bin'), join(NPM, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  // The clients of registries read addresses, certificates and folders from variables.
  const options = { cwd, env: { ...process.env, PATH, ...env }, timeout: PROGRAM_MAX_MS, maxBuffer: 64 * 1024 * 1024 };
  try {
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    throw Object.assign(new Error(`${message}\n${stdout}${stderr}`.slice(-4_000)), { printed: stdout });
  }
}

export const python = (args: readonly string[], settings?: Settings) => run(join(PYTHON, 'bin/python'), args, settings);
export const npmTool = (name: string, args: readonly string[], settings?: Settings) =>
  run(join(NPM, 'node_modules/.bin', name), args, settings);
export const NPM_MODULES = join(NPM, 'node_modules');

/** Runs openapi-generator. */
export const openApiGenerator = (language: string, document: string, directory: string) =>
  run('java', ['-jar', GENERATOR_JAR, 'generate', '-g', language, '-i', document, '-o', directory]);

export const oapiCodegen = (args: readonly string[], settings: Settings) =>
  run(join(TOOLS, 'go/oapi-codegen'), args, settings);
export const RUNTIME_OF_OAPI_CODEGEN = LIBRARIES.go;

/** The file that says that Schemathesis has been installed. */
export const MARK_OF_SCHEMATHESIS = join(PYTHON, `schemathesis-${VERSIONS.schemathesis}`);

async function installPackages(cwd: string, packages: readonly string[]): Promise<void> {
  await mkdir(cwd, { recursive: true });
  await writeFile(join(cwd, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd });
}

/** Installs what one registry serves, if it is not there. */
export const INSTALL = {
  async jar() {
    if (existsSync(GENERATOR_JAR)) return;
    const artifact = `org.openapitools:openapi-generator-cli:${VERSIONS.openApiGenerator}`;
    await run('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${TOOLS}`]);
  },
  async python() {
    await run('python3', ['-m', 'venv', PYTHON]);
    const tools = [`openapi-python-client==${VERSIONS.openApiPythonClient}`, `schemathesis==${VERSIONS.schemathesis}`];
    await python(['-m', 'pip', 'install', '--quiet', ...tools, ...LIBRARIES.python]);
    await writeFile(MARK_OF_SCHEMATHESIS, '');
  },
  async npm() {
    const tools = [`openapi-typescript@${VERSIONS.openApiTypescript}`, `@hey-api/openapi-ts@${VERSIONS.heyApi}`];
    await installPackages(NPM, [...tools, ...LIBRARIES.npm]);
    for (const version of COMPILERS) await installPackages(folderOfCompiler(version), [`typescript@${version}`]);
    for (const runtime of Object.keys(RUNTIMES)) await installPackages(folderOfRuntime(runtime), [runtime]);
  },
  async go() {
    const command = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v${VERSIONS.oapiCodegen}`;
    await run('go', ['install', command], { env: { GOBIN: join(TOOLS, 'go') } });
  },
} as const;

/** @returns the first of some programs that this machine lacks. */
export function lacking(programs: readonly string[]): string | undefined {
  const path = (process.env.PATH ?? '').split(delimiter);
  return programs.find((program) => !path.some((folder) => existsSync(join(folder, program))));
}
