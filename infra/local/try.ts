import { goPastProxy } from '../../local-aws/host/proxy.ts';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';

/**
 * `npm run try`: makes an API key in the service that `npm start` runs on this machine, for a first upload without a browser. It
 * prints lines for a shell: `eval "$(npm run --silent try)"`. `PORT` (8787) is the port of the app.
 *
 * It logs in like a browser, with the form of the local identity provider, which accepts any e-mail address. AWS has no such form, and
 * this script always calls localhost.
 */

const DEFAULT_PORT = 8787;
const EMAIL = 'you@example.com';
const rootUrl = `http://localhost:${process.env.PORT || DEFAULT_PORT}`;

goPastProxy();
try {
  const key = await newKey();
  console.log(`export FILE_HOSTING_URL=${rootUrl}`);
  console.log(`export FILE_HOSTING_KEY=${key}`);
  if (process.stdout.isTTY) console.error('Paste these two lines, or run: eval "$(npm run --silent try)"');
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}

/** @throws Error with a sentence for the person who runs this. */
async function newKey(): Promise<string> {
  const { cookies } = await logIn({ startUrl: `${rootUrl}/api/v1/auth/google`, email: EMAIL }).catch(
    (cause: unknown) => {
      const reason = cause instanceof TypeError ? 'start it with "npm start" in another terminal' : String(cause);
      throw new Error(`The service at ${rootUrl} cannot be used: ${reason}.`);
    },
  );
  const answer = await fetch(`${rootUrl}/api/v1/api-keys`, {
    method: 'POST',
    // A request with a cookie that changes something must say where it comes from, as browsers do.
    headers: { cookie: cookies, origin: rootUrl, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'npm run try' }),
  });
  const { key, error } = (await answer.json()) as { key?: string; error?: string };
  // The shell will run what this prints, and a program other than our service may have answered on this port. So the key must have only
  // harmless characters.
  if (key !== undefined && /^\w+$/.test(key)) return key;
  throw new Error(
    `The service made no API key for ${EMAIL}: ${error}. Revoke old ones at ${rootUrl}/dashboard/api-keys.`,
  );
}
