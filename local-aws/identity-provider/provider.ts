import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import {
  type Adapter,
  type AdapterFactory,
  type AdapterPayload,
  type Configuration,
  errors,
  interactionPolicy,
  type JWK,
  Provider,
} from 'oidc-provider';
import type { Accounts } from './accounts.ts';
import { errorPage } from './pages.ts';

/** The only application that may send users to this provider. */
export interface RegisteredClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUris: readonly string[];
}

const LOGIN_SECONDS = 10 * 60;

const TOKEN_SECONDS = 3_600;

/** Makes a provider with what the product uses of Google's login: code flow with PKCE, RS256 ID tokens with nonce and profile claims. */
export async function openIdProvider(issuer: string, client: RegisteredClient, accounts: Accounts): Promise<Provider> {
  const configuration: Configuration = {
    adapter: memoryAdapter(),
    jwks: { keys: [await signingKey()] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [...client.redirectUris],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'client_secret_basic',
        id_token_signed_response_alg: 'RS256',
      },
    ],
    responseTypes: ['code'],
    pkce: { required: () => true },
    scopes: ['openid', 'email', 'profile'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'picture'] },
    // As with Google, the claims are in the ID token, not only at the userinfo endpoint.
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false } },
    interactions: { url: (_context, interaction) => `/login/${interaction.uid}`, policy: askEveryTime() },
    findAccount: (_context, subject) => accounts.find(subject),
    loadExistingGrant: grantEverything,
    renderError: (context, { error, error_description }) => {
      context.type = 'html';
      context.body = errorPage(error, error_description);
    },
    ttl: {
      AccessToken: TOKEN_SECONDS,
      Grant: TOKEN_SECONDS,
      IdToken: TOKEN_SECONDS,
      Interaction: LOGIN_SECONDS,
      Session: TOKEN_SECONDS,
    },
  };
  return new Provider(issuer, configuration);
}

/** Makes a new key for each start. Tokens are read only once, at login, and their readers find keys by id. */
async function signingKey(): Promise<JWK> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return {
    ...privateKey.export({ format: 'jwk' }),
    kid: randomBytes(8).toString('hex'),
    alg: 'RS256',
    use: 'sig',
  } as JWK;
}

/** Shows the form at every login, because the next login may be by another user. */
function askEveryTime(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  const check = new interactionPolicy.Check(
    'always_ask',
    'the form is shown at each login',
    'login_required',
    (context) =>
      context.oidc.result?.login ? interactionPolicy.Check.NO_NEED_TO_PROMPT : interactionPolicy.Check.REQUEST_PROMPT,
  );
  policy.get('login')?.checks.add(check);
  // Who asks for the choice of an account gets the same form.
  policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0);
  return policy;
}

/** There is no consent page, because the only application is trusted. */
const grantEverything: NonNullable<Configuration['loadExistingGrant']> = async (context) => {
  const { client, session, provider } = context.oidc;
  if (!client || !session?.accountId) throw new errors.InvalidRequest('a grant before the login');
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope('openid email profile');
  await grant.save();
  return grant;
};

/**
 * Stores the provider's short-lived records (interactions, codes, grants) in memory. A login that is under way when the process
 * ends has to be started again. (The library has such a store, too, but warns against it at every start.)
 */
function memoryAdapter(): AdapterFactory {
  /** `expiresAt` is by `performance.now`, which nobody sets back. */
  const records = new Map<string, { payload: AdapterPayload; expiresAt: number }>();
  const read = (key: string): AdapterPayload | undefined => {
    const record = records.get(key);
    return record && record.expiresAt > performance.now() ? record.payload : undefined;
  };
  const findBy = (model: string, property: 'uid' | 'userCode', value: string) => {
    const entries = [...records].filter(([key]) => key.startsWith(`${model}:`));
    return entries.find(([key, { payload }]) => payload[property] === value && read(key))?.[1].payload;
  };
  return (model): Adapter => {
    const keyOf = (id: string) => `${model}:${id}`;
    return {
      upsert: async (id, payload, expiresIn) => {
        for (const [key, { expiresAt }] of records) {
          if (expiresAt <= performance.now()) records.delete(key);
        }
        records.set(keyOf(id), { payload, expiresAt: performance.now() + (expiresIn ?? 3_600) * 1_000 });
      },
      find: async (id) => read(keyOf(id)),
      findByUid: async (uid) => findBy(model, 'uid', uid),
      findByUserCode: async (userCode) => findBy(model, 'userCode', userCode),
      consume: async (id) => {
        const payload = read(keyOf(id));
        if (payload) payload.consumed = Math.floor(Date.now() / 1_000);
      },
      destroy: async (id) => {
        records.delete(keyOf(id));
      },
      revokeByGrantId: async (grantId) => {
        for (const [key, { payload }] of records) {
          if (payload.grantId === grantId) records.delete(key);
        }
      },
    };
  };
}
