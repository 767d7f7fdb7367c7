import { setTimeout as pause } from 'node:timers/promises';
import type { RouteName } from '../routes.ts';
import { api, ask, CONTENT, type Service, type StoredFile, upload, WrongAnswer } from './client.ts';

/**
 * What a new version of each function must do, by the name of its deployment group. A check judges only its own function. When
 * another function fails, the check throws {@link NotJudged}; the fault is found by the check of that other function.
 */
export const CHECKS: Readonly<Record<RouteName | 'unknownRoute' | 'completeArrivedUpload', Check>> = {
  health: ({ appUrl }) => ask(`${appUrl}/health`, {}, 200),
  startLogin: async ({ appUrl }) => {
    // While the secret has no Google client, every start of a login is answered by 503. This is no fault of the version.
    await unless([503], ask(`${appUrl}/api/v1/auth/google`, { redirect: 'manual' }, 302));
  },
  // No login was started, so the answer leads to the login page.
  finishLogin: ({ appUrl }) => unless([503], ask(`${appUrl}/api/v1/auth/google/callback`, { redirect: 'manual' }, 302)),
  getMe: (service) => refusedWithoutSession(service, 'GET', '/auth/me'),
  logout: (service) => refusedWithoutSession(service, 'POST', '/auth/logout'),
  endSessions: (service) => refusedWithoutSession(service, 'DELETE', '/auth/sessions'),
  listApiKeys: (service) => refusedWithoutSession(service, 'GET', '/api-keys'),
  createApiKey: (service) => refusedWithoutSession(service, 'POST', '/api-keys'),
  revokeApiKey: (service) => refusedWithoutSession(service, 'DELETE', `/api-keys/${UNKNOWN_ID}`),
  async listFiles(service) {
    for (const query of ['limit=1', 'search=canary']) await api(service, 'GET', `/files?${query}`, 200);
  },
  async uploadFile(service) {
    const file = await upload(service);
    await removing(service, file, async () => {
      const read = await ask(file.url, {}, 200);
      if (read !== CONTENT) throw new Error(`the link has other content: ${read.slice(0, 100)}`);
    });
  },
  getUsage: (service) => api(service, 'GET', '/usage', 200),
  async createUpload(service) {
    await removing(service, await askForTicket(service), async () => {});
  },
  async cancelUpload(service) {
    const ticket = await needed(askForTicket(service));
    await api(service, 'DELETE', `/uploads/${ticket.id}`, 200);
  },
  async getFile(service) {
    const file = await needed(upload(service));
    await removing(service, file, () => api(service, 'GET', `/files/${file.id}`, 200));
  },
  async deleteFile(service) {
    const { id } = await needed(upload(service));
    await api(service, 'DELETE', `/files/${id}`, 200);
  },
  async completeUpload(service) {
    const ticket = await needed(sendDirectly(service));
    // The event that the bytes have arrived may have completed the upload before this request. The answer is the same.
    await removing(service, ticket, () => api(service, 'POST', `/uploads/${ticket.id}/complete`, 201));
  },
  async completeArrivedUpload(service) {
    const ticket = await needed(sendDirectly(service));
    await removing(service, ticket, () => becomesFile(service, ticket.id));
  },
  unknownRoute: ({ appUrl }) => ask(`${appUrl}/api/v1/unknown`, {}, 404),
};

export type Check = (service: Service) => Promise<unknown>;

/**
 * A check could not judge its own function, for one of three reasons: a request to another function failed first; a limit refused a
 * request; or the settings of the stage explain the answer, such as the 503 of a login without a Google client.
 */
export class NotJudged extends Error {
  constructor(cause: unknown) {
    super('the check cannot judge the version', { cause });
    this.name = 'NotJudged';
  }
}

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
/** How long the event of a direct upload may take to make the file. It usually takes a second. */
const EVENT_MS = 30_000;

interface Ticket {
  readonly id: string;
  readonly upload: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  };
}

/**
 * The canary has no session. So the check of a route that needs a session sends an unknown one. The route looks it up, and refuses the
 * request.
 */
function refusedWithoutSession({ appUrl }: Service, method: string, path: string): Promise<string> {
  const cookie = ['session', '__Host-session'].map((name) => `${name}=${'0'.repeat(43)}`).join('; ');
  return ask(`${appUrl}/api/v1${path}`, { method, headers: { cookie, origin: appUrl } }, 401);
}

/** Waits for a step of another function that a check depends on. @throws NotJudged when that step fails. */
async function needed<T>(step: Promise<T>): Promise<T> {
  return step.catch((error: unknown) => {
    throw new NotJudged(error);
  });
}

/** @throws NotJudged when the answer has one of these statuses, instead of the right one. */
async function unless(statuses: readonly number[], step: Promise<unknown>): Promise<void> {
  await step.catch((error: unknown) => {
    throw error instanceof WrongAnswer && statuses.includes(error.status) ? new NotJudged(error) : error;
  });
}

/**
 * Runs a step with a file or a ticket, and then deletes the file or ticket. If the deletion fails, the canary deletes the file later; a
 * ticket ends by itself.
 */
async function removing(service: Service, { id }: { id: string }, step: () => Promise<unknown>): Promise<void> {
  try {
    await step();
  } finally {
    await api(service, 'DELETE', `/uploads/${id}`, 200).catch(() => {});
    await api(service, 'DELETE', `/files/${id}`, 200).catch(() => {});
  }
}

function askForTicket(service: Service): Promise<Ticket> {
  const body = JSON.stringify({ name: 'canary.txt', mime_type: 'text/plain', size_bytes: CONTENT.length });
  return api<Ticket>(service, 'POST', '/uploads', 202, { body, headers: { 'content-type': 'application/json' } });
}

async function sendDirectly(service: Service): Promise<Ticket> {
  const ticket = await askForTicket(service);
  const { url, method, headers } = ticket.upload;
  await ask(url, { method, headers, body: CONTENT }, 200);
  return ticket;
}

/** Waits until the event of the upload has made the file. */
async function becomesFile(service: Service, id: string): Promise<void> {
  const until = Date.now() + EVENT_MS;
  for (;;) {
    const file = await needed(
      api<StoredFile>(service, 'GET', `/files/${id}`, 200).catch((error: unknown) => {
        if (error instanceof WrongAnswer && error.status === 404) return undefined;
        throw error;
      }),
    );
    if (file) return;
    if (Date.now() > until) throw new Error(`the event of the upload ${id} has not made a file`);
    await pause(500);
  }
}
