import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { unescape as percentDecode } from 'node:querystring';
import { text } from 'node:stream/consumers';
import type { Provider } from 'oidc-provider';
import { listen } from '../host/http-server.ts';
import { type Accounts, accountsOf, emailFrom } from './accounts.ts';
import { errorPage, loginPage, picture } from './pages.ts';
import type { RegisteredClient } from './provider.ts';

export interface IdentityProvider {
  /** The address `http://127.0.0.1:<port>`: another site than `localhost`, as Google is another site than the product. */
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly jwksUri: string;
  close(): Promise<void>;
}

/** The limit for the form, which has one address. */
const FORM_MAX_CHARACTERS = 4_096;

/**
 * Starts an OpenID provider where any e-mail address can log in. The library `oidc-provider` checks codes, PKCE and the
 * client's secret, and signs ID tokens with the nonce, as Google does.
 * @param options  `port` absent or 0 takes a free one.
 */
export async function startIdentityProvider(
  options: RegisteredClient & { readonly port?: number },
): Promise<IdentityProvider> {
  // Long, so that no client uses a kept connection that is just ending.
  const server = createServer({ keepAliveTimeout: 75_000 });
  const { port, close } = await listen(server, options.port);
  const issuer = `http://127.0.0.1:${port}`;

  const accounts = accountsOf(issuer);
  /** The provider. The first request makes it: loading the library takes a quarter of a second, and in many tests no user logs in. */
  let made: ReturnType<typeof makeProvider> | undefined;
  const makeProvider = async () => {
    const { openIdProvider } = await import('./provider.ts');
    const provider = await openIdProvider(issuer, options, accounts);
    return { provider, answer: provider.callback() };
  };
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '/', issuer);
    if (pathname.startsWith('/picture/')) return sendPicture(pathname, response);
    made ??= makeProvider();
    const { provider, answer } = await made;
    forgetUser(request);
    if (pathname.startsWith('/login/')) await login({ provider, accounts }, request, response);
    else await answer(request, response);
  };
  server.on('request', (request, response) => {
    respond(request, response).catch((error) => {
      console.error(error);
      response.destroy();
    });
  });
  return {
    issuer,
    authorizationEndpoint: `${issuer}/auth`,
    tokenEndpoint: `${issuer}/token`,
    jwksUri: `${issuer}/jwks`,
    close,
  };
}

/** Removes the session cookie: each login may be by another user, and the provider would refuse a change of users. */
function forgetUser({ headers }: IncomingMessage): void {
  const kept = (headers.cookie ?? '').split('; ').filter((cookie) => !cookie.startsWith('_session'));
  headers.cookie = kept.join('; ');
}

/** Shows the form, or handles it: an address logs in, Cancel goes back with `access_denied`. */
async function login(
  { provider, accounts }: { provider: Provider; accounts: Accounts },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { uid } = await provider.interactionDetails(request, response);
    if (request.method !== 'POST') {
      sendHtml(response, 200, loginPage(`/login/${uid}`));
      return;
    }
    const form = new URLSearchParams((await text(request)).slice(0, FORM_MAX_CHARACTERS));
    const email = emailFrom(form.get('email'));
    if (form.get('choice') === 'cancel') {
      await provider.interactionFinished(request, response, {
        error: 'access_denied',
        error_description: 'The person went back',
      });
    } else if (email) {
      await provider.interactionFinished(request, response, {
        login: { accountId: accounts.add(email), remember: false },
        select_account: {},
      });
    } else {
      sendHtml(response, 400, loginPage(`/login/${uid}`, 'That is not an e-mail address.'));
    }
  } catch (error) {
    // The login took too long, or its cookie is gone.
    sendHtml(response, 400, errorPage('This login is over', error instanceof Error ? error.message : ''));
  }
}

function sendHtml(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(html);
}

function sendPicture(pathname: string, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'image/svg+xml', 'cross-origin-resource-policy': 'cross-origin' });
  response.end(picture(percentDecode(pathname.slice('/picture/'.length))));
}
