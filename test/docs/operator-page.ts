/** The commands of docs/operate.md. */

export interface PageCommand {
  readonly line: string;
  /** `MAX_UPLOAD_SIZE_BYTES=1 npm run deploy` */
  readonly variables: Readonly<Record<string, string>>;
  /** `-c stage=dev` */
  readonly contexts: Readonly<Record<string, string>>;
}

/** Every line of the page's shell blocks; lines that end in a backslash are joined with the next one. */
export function shellLines(page: string): string[] {
  const blocks = [...page.matchAll(/^( *)```sh\n([\s\S]*?)^\1```$/gm)].map(([, , block = '']) => block);
  return blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n')).flatMap((line) => line.trim() || []);
}

/** The page's commands of npm and the CDK, with their variables and contexts. */
export function pageCommands(page: string): PageCommand[] {
  const commands = shellLines(page).filter((line) => /^([A-Z_]+=\S+ )*(npm|npx) /.test(line));
  return commands.map((line) => ({
    line,
    variables: pairs(line.matchAll(/(?<=^|^(?:[A-Z_]+=\S+ )+)([A-Z_]+)=(\S+) /g)),
    contexts: pairs(line.matchAll(/ -c (\w+)=(\S+)/g)),
  }));
}

function pairs(found: Iterable<RegExpMatchArray>): Record<string, string> {
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
}
