import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Failure } from './failure.ts';

type Command = readonly [program: string, ...args: string[]];

/** The programs that copy their standard input, in the order in which they are tried. */
function copiers(): readonly Command[] {
  if (process.platform === 'darwin') return [['pbcopy']];
  if (process.platform === 'win32') return [['clip']];
  const wayland: Command = ['wl-copy'];
  const x11: Command[] = [
    ['xclip', '-selection', 'clipboard'],
    ['xsel', '--clipboard', '--input'],
  ];
  return process.env.WAYLAND_DISPLAY ? [wayland, ...x11] : [...x11, wayland];
}

/** @throws Failure when this machine has no program that copies. */
export async function copyToClipboard(text: string): Promise<void> {
  for (const command of copiers()) if (await run(command, text)) return;
  throw new Failure('The clipboard of this machine cannot be reached.', 'Install wl-clipboard, xclip or xsel.');
}

/** Opens a link in the browser. @throws Failure when this machine has no program that opens links, or the link is not http(s). */
export async function openInBrowser(url: string): Promise<void> {
  // With another link, the programs below would open files or run programs.
  if (!/^https?:\/\//.test(url)) {
    throw new Failure(
      'The link does not begin with http:// or https://.',
      'Check the address of the service: file-hosting me',
    );
  }
  const openers: Partial<Record<NodeJS.Platform, Command>> = {
    darwin: ['open', url],
    // The `start` of the Windows shell would take an `&` in the link for the end of the command.
    win32: ['rundll32', 'url.dll,FileProtocolHandler', url],
  };
  if (await run(openers[process.platform] ?? ['xdg-open', url])) return;
  throw new Failure('This machine has no program that opens links.', `Open it yourself: ${url}`);
}

/** @returns whether the program exists and has succeeded. */
async function run([program, ...args]: Command, input = ''): Promise<boolean> {
  const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'] });
  // Writing fails when the program ends before it has read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  try {
    const [code] = await once(child, 'exit');
    return code === 0;
  } catch {
    return false;
  }
}
