import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { promisify } from 'node:util';
import { inherited } from '../support/inherited.ts';
import { IS_THOROUGH } from '../support/thorough.ts';

/** The languages whose programs this machine lacks. Their examples are not run here. */
export const MISSING: ReadonlySet<string> = new Set([
  ...lacks('python', 'python3', ['-c', 'import requests'], 'Python with the package requests'),
  ...lacks('go', 'go', ['version'], 'Go'),
]);

/**
 * The languages whose examples are not run here. Only `npm run test:soak` runs examples in Go, because the first build on a machine
 * compiles Go's library, which takes half a minute of a processor. Other runs only check how they are formatted.
 */
export const NOT_RUN: ReadonlySet<string> = IS_THOROUGH ? MISSING : new Set([...MISSING, 'go']);

function lacks(language: string, command: string, args: string[], name: string): string[] {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return [];
  } catch {
    console.warn(`The examples in ${language} are not run, because this machine lacks ${name}.`);
    return [language];
  }
}

/** The folder of the commands of npm packages, among them `file-hosting`. */
const BINARIES = join(import.meta.dirname, '../../node_modules/.bin');

/** Where examples run: a project with the client (`test/support/project.ts`), and the variables that they read. */
export interface Place {
  readonly project: string;
  readonly variables: Readonly<Record<string, string>>;
}

async function run(place: Place, command: string, args: readonly string[]): Promise<string> {
  const PATH = [BINARIES, process.env.PATH].join(delimiter);
  const env = { ...inherited(), PATH, CURL_HOME: place.project, ...place.variables };
  const { stdout, stderr } = await promisify(execFile)(command, args, { cwd: place.project, env });
  return stdout + stderr;
}

/**
 * The program that runs every example in Python. There is one process for all of them, because a start and the loading of `requests` take a
 * third of a second.
 */
const PYTHON = `
import contextlib, io, json, os, sys, traceback

for line in sys.stdin:
    job = json.loads(line)
    os.environ.update(job["variables"])
    os.chdir(job["directory"])
    printed, error = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(job["code"], "example.py", "exec"), {"__name__": "__main__"})
    except BaseException:
        error = traceback.format_exc()
    print(json.dumps({"printed": printed.getvalue(), "error": error}), flush=True)
`;

let python: ChildProcess | undefined;

/** Runs one example at a time. The Python process ends when its input ends, together with the process of the tests. */
async function runPython(code: string, { project, variables }: Place): Promise<string> {
  python ??= spawn('python3', ['-c', PYTHON], { env: inherited(), stdio: ['pipe', 'pipe', 'inherit'] });
  const { stdin, stdout } = python as ChildProcess & { stdin: NodeJS.WritableStream; stdout: NodeJS.ReadableStream };
  const lines = createInterface({ input: stdout });
  stdin.write(`${JSON.stringify({ code, variables, directory: project })}\n`);
  const [line] = (await once(lines, 'line')) as [string];
  lines.close();
  const { printed, error } = JSON.parse(line) as { printed: string; error: string | null };
  if (error !== null) throw new Error(printed + error);
  return printed;
}

/** Runs an example, by language. @returns what the example prints. @throws Error with what it has printed, when it fails. */
export const RUNNERS: Readonly<Record<string, (code: string, place: Place) => Promise<string>>> = {
  sh: (code, place) => run(place, 'sh', ['-ec', code]),
  ts: (code, place) => run(place, process.execPath, ['--input-type=module-typescript', '--eval', code]),
  python: runPython,
  go: (code, place) => run(place, join(place.project, 'go', 'examples'), [goName(code)]),
};

/** Puts everything that examples need into the directory of a project. */
export async function prepareProject(project: string, goExamples: readonly string[]): Promise<void> {
  // With this setting curl fails when the answer is an error. Without it, curl would only print the error.
  await writeFile(join(project, '.curlrc'), 'silent\nshow-error\nfail-with-body\n');
  for (const name of ['photo.jpg', 'film.mp4', 'report.pdf', 'backup.tar'])
    await writeFile(join(project, name), `This is ${name}.`);
  await writeGo(join(project, 'go'), goExamples);
  if (!NOT_RUN.has('go')) await buildGo(join(project, 'go'));
}

/** Writes one program that has the `main` of every example in Go, because each program takes a second to link. */
async function writeGo(directory: string, examples: readonly string[]): Promise<void> {
  await mkdir(directory);
  await writeFile(join(directory, 'go.mod'), 'module examples\n\ngo 1.21\n');
  const names = new Set(examples.map(goName));
  for (const code of examples) {
    const own = code.replace(/^func main\(\)/m, `func ${goName(code)}()`);
    await writeFile(join(directory, `${goName(code)}.go`), `${own}\n`);
  }
  const cases = [...names].map((name) => `\t"${name}": ${name},`);
  const main = ['package main', 'import "os"', 'var examples = map[string]func(){', ...cases, '}'];
  await writeFile(join(directory, 'main.go'), [...main, 'func main() { examples[os.Args[1]]() }', ''].join('\n'));
}

async function buildGo(directory: string): Promise<void> {
  // Without cgo, Go needs no C compiler.
  const env = { ...inherited(), CGO_ENABLED: '0', GOFLAGS: '-mod=mod', GOPROXY: 'off' };
  await promisify(execFile)('go', ['build', '-o', 'examples', '.'], { cwd: directory, env });
}

const goName = (code: string) => `example${createHash('sha256').update(code).digest('hex').slice(0, 12)}`;
