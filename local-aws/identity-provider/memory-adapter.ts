import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';

/**
 * Storage of the provider's short-lived records (interactions, codes, grants) for as long as the process runs: a login
 * that is under way when it ends is started again.
 */
export function memoryAdapter(): AdapterFactory {
  const records = new Map<string, { payload: AdapterPayload; expiresAt: number }>();
  const read = (key: string): AdapterPayload | undefined => {
    const record = records.get(key);
    return record && record.expiresAt > Date.now() ? record.payload : undefined;
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
          if (expiresAt <= Date.now()) records.delete(key);
        }
        records.set(keyOf(id), { payload, expiresAt: Date.now() + (expiresIn ?? 3_600) * 1_000 });
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
