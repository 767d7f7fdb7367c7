import type { Deadline } from '../files/settlement-store.ts';
import type { CredentialStore } from './credential-store.ts';

export interface MarkedCredentials {
  readonly keys: number;
  readonly sessions: number;
}

/**
 * Makes every key and session of an account follow its state, which must have been written before. Each mark holds to that
 * state: of a suspension and a restoration at once the one that wrote the account last wins everywhere.
 * @returns undefined when the state has changed meanwhile.
 */
export async function markCredentials(
  credentials: CredentialStore,
  accountId: string,
  isSuspended: boolean,
  deadline: Deadline,
): Promise<MarkedCredentials | undefined> {
  const marked = { key: 0, session: 0 };
  // One after the other: each of these transactions looks at the account, so two of them would only meet.
  for await (const credential of credentials.all(accountId)) {
    if (!(await credentials.mark(accountId, credential, isSuspended, deadline))) return undefined;
    marked[credential.kind]++;
  }
  return { keys: marked.key, sessions: marked.session };
}
