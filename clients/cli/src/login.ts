import { FileHosting, FileHostingError } from '../../typescript/src/index.ts';
import { checkAddress, knownUrl, settingsPath, storeAccount, withoutPath } from './account.ts';
import { Failure } from './failure.ts';
import { ask, isInteractive, note } from './terminal.ts';
import { Waits } from './waits.ts';

/** Asks for the address of the service and for an API key, tries both with a request, and stores them. */
export async function login(flags: { readonly url?: string }, signal: AbortSignal): Promise<void> {
  const known = flags.url ?? (await knownUrl());
  const url = withoutPath(known ?? ((isInteractive() && (await ask('Address of the service: ', { signal }))) || ''));
  checkAddress(url);
  if (!url) throw new Failure('The address of the service is missing.', 'Run: file-hosting login --url <address>', 2);
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new Failure(`${url} is not the address of a service.`, 'Give it like this: https://files.example.com', 2);
  }
  note(`Create an API key at ${url}/dashboard/api-keys, if you have none.`);
  const key = (await ask('API key (it is not shown): ', { signal, isSecret: true }))?.trim();
  if (!key) throw new Failure('No key was given.', 'Run file-hosting login again, and paste the key.');
  await new FileHosting({ url, key })
    .list({ limit: 1, signal, retries: 2, onWait: new Waits().mention })
    .catch((error) => {
      if (!(error instanceof FileHostingError && error.code === 'unauthorized')) throw error;
      throw new Failure(
        error.message,
        'Create an API key in the dashboard, then run file-hosting login again, and paste it.',
      );
    });
  await storeAccount({ url, key });
  note(`Logged in. The key is in ${settingsPath()}, readable by you alone.`);
  const winners = ['FILE_HOSTING_KEY', 'FILE_HOSTING_URL'].filter((name) => process.env[name]);
  if (winners.length > 0) note(`But commands will use ${winners.join(' and ')} from your environment instead.`);
}
