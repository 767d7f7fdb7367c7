import { createApiKey } from '../../../shared/api-keys/api-key.ts';
import { required } from '../../../shared/env.ts';
import { accountIdOf } from '../../../shared/login/identity.ts';
import type { Command, CommandContext } from './command.ts';

/** No identity provider has the issuer `canary`, so no person can log in to the account. */
const CANARY = { issuer: 'canary', subject: 'canary' };

/**
 * Gives the canary a key. If the command dies before it has stored the new key, the canary goes on with its last key. The next run of the
 * command then revokes both keys. If two runs overlap, one may revoke the key that the other has stored. Then the service refuses the
 * canary, and its alarm starts. Another run of the command puts this right.
 */
export const openCanary: Command = {
  arguments: [],
  meaning:
    'Give the canary an account and an API key of its own, and store the key where the canary reads it. Run the command again to replace the key; the old key is revoked',
  async run({ stores, logs, deadline: { deadlineAt } }) {
    const id = accountIdOf(CANARY.issuer, CANARY.subject);
    const { made, former } = await logs.audited('api_key_created', { account_id: id }, () =>
      replaceKey(stores, id, deadlineAt),
    );
    return {
      json: { id, key_prefix: made.key_prefix, revoked: former.length },
      text: `The canary has the key ${made.key_prefix}… of the account ${id}, from its next run on.`,
    };
  },
};

async function replaceKey(stores: CommandContext['stores'], id: string, deadlineAt: number) {
  await stores.accounts.upsert({ id, email: 'canary', name: 'The canary' }, Date.now());
  const former = await stores.keys.list(id);
  const kind = required('STAGE') === 'prod' ? 'live' : 'test';
  const made = await createApiKey(stores.keys, { accountId: id, name: 'canary', kind, deadlineAt });
  await stores.canaryKey.put(made.key);
  for (const key of former) await stores.keys.remove(id, key.id, { deadlineAt });
  return { made, former };
}
