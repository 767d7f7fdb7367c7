import { runInNewContext } from 'node:vm';
import type { StageSettings } from '../../infra/settings/stage.ts';

/** The commands and the settings in docs/operate.md. */

/** Every line of the page's shell blocks; lines that end in a backslash are joined with the next one. */
export function shellLines(page: string): string[] {
  const blocks = [...page.matchAll(/^( *)```sh\n([\s\S]*?)^\1```$/gm)].map(([, , block = '']) => block);
  return blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n')).flatMap((line) => line.trim() || []);
}

/** The page's commands of npm and the CDK. */
export function pageCommands(page: string): string[] {
  return shellLines(page).filter((line) => /^(npm|npx) /.test(line));
}

/** The page's examples of settings, each as the object that it is in the file of a stage. */
export function pageSettings(page: string): Partial<StageSettings>[] {
  const blocks = [...page.matchAll(/^( *)```ts\n([\s\S]*?)^\1```$/gm)].map(([, , block = '']) => block);
  return blocks.map((block) => runInNewContext(`({${block}})`) as Partial<StageSettings>);
}
