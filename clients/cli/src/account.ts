import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { Failure } from './failure.ts';

/** Which service a command uses, and with which key. */
export interface Account {
  /** The address of the app. */
  readonly url: string;
  readonly key: string;
  /** Where the key comes from: a file or a variable. */
  readonly keyFrom: string;
}

/** The file in which `login` stores the account, in the folder where the platform keeps the settings of a user. */
export function settingsPath(): string {
  const { APPDATA, XDG_CONFIG_HOME } = process.env;
  const folders: Partial<Record<NodeJS.Platform, () => string>> = {
    darwin: () => inHome('Library', 'Application Support'),
    win32: () => APPDATA || inHome('AppData', 'Roaming'),
  };
  const folder = folders[process.platform] ?? (() => XDG_CONFIG_HOME || inHome('.config'));
  return join(folder(), 'file-hosting', 'settings.json');
}

function inHome(...parts: string[]): string {
  let home = '';
  try {
    home = homedir();
  } catch {
    // The system does not know this user, as in some containers.
  }
  if (!isAbsolute(home)) throw new Failure('This user has no home directory.', WITHOUT_SETTINGS);
  return join(home, ...parts);
}

/** What a user can do who has no place for settings. */
const WITHOUT_SETTINGS = `Set the variables FILE_HOSTING_URL and FILE_HOSTING_KEY; then nothing needs to be stored.${process.platform === 'linux' ? ' Or set XDG_CONFIG_HOME to a folder for settings.' : ''}`;

/** Removes the path from an address, because people paste the address of the API or of a page of the dashboard. */
export function withoutPath(url: string): string {
  return url
    .trim()
    .replace(/\/(?:api\/v1|dashboard)(?:[/?#].*)?$/, '')
    .replace(/\/+$/, '');
}

/** The address of the service, from the environment or else from the stored account. */
export async function knownUrl(): Promise<string | undefined> {
  const url = process.env.FILE_HOSTING_URL || (await readStored())?.url;
  return url && withoutPath(url);
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127\.[\d.]+|\[::1\])$/;

/**
 * @throws Failure for an address with a password, which would be shown, or with `http:` on another machine, because others could read the
 *   key on the network.
 */
export function checkAddress(url: string): void {
  if (!URL.canParse(url)) return;
  const { protocol, hostname, username, password } = new URL(url);
  if (username || password) {
    throw new Failure(
      'The address of the service has a user name or password.',
      'Give it without the part before @',
      2,
    );
  }
  if (protocol !== 'http:' || LOOPBACK.test(hostname)) return;
  throw new Failure(`${url} is not encrypted, so others could read the key.`, 'Give the address with https://', 2);
}

/**
 * The account that the environment names, or else the stored one. The stored key is sent only to the address that it was stored with. So a
 * wrong FILE_HOSTING_URL cannot send the key to another server.
 * @throws Failure when there is no address or no key.
 */
export async function findAccount(): Promise<Account> {
  const url = await knownUrl();
  if (!url) {
    throw new Failure('The address of the service is unknown.', 'Run: file-hosting login (or set FILE_HOSTING_URL)');
  }
  checkAddress(url);
  const key = process.env.FILE_HOSTING_KEY?.trim();
  if (key) return { url, key, keyFrom: 'FILE_HOSTING_KEY' };
  const stored = await readStored();
  if (stored?.url === url) return { ...stored, keyFrom: settingsPath() };
  throw new Failure(`There is no API key for ${url}.`, 'Run: file-hosting login (or set FILE_HOSTING_KEY)');
}

async function readStored(): Promise<Pick<Account, 'url' | 'key'> | undefined> {
  try {
    const { url, key } = JSON.parse(await readFile(settingsPath(), 'utf8'));
    if (typeof url === 'string' && typeof key === 'string') return { url, key };
    throw new SyntaxError('a field is missing');
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new Failure(`${settingsPath()} is damaged.`, 'Remove it, then run: file-hosting login');
    }
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error instanceof Failure ? error : new Failure(`The stored key cannot be read: ${message}`, WITHOUT_SETTINGS);
  }
}

/** Stores an account in a file that only this user can read. An older file is replaced in one step. */
export async function storeAccount({ url, key }: Pick<Account, 'url' | 'key'>): Promise<void> {
  const path = settingsPath();
  const temporary = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(temporary, `${JSON.stringify({ url, key })}\n`, { mode: 0o600, flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw new Failure(`The key cannot be stored: ${(error as Error).message}`, WITHOUT_SETTINGS);
  }
}
