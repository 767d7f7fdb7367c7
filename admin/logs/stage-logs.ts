import { hostname } from 'node:os';
import { queryText, SAVED_QUERIES, type SavedQueryName } from '../../infra/settings/log-queries.ts';
import type { StageName } from '../../infra/settings/stage.ts';
import { required } from '../../shared/env.ts';
import type { AuditEvent } from '../../shared/log.ts';
import { type LogRow, logStore } from './log-store.ts';

/** Where CloudFront delivers its logs, wherever the service is. */
const EDGE_REGION = 'us-east-1';
const HOUR_MS = 3_600_000;

/** The logs of one stage, as commands use them. */
export interface StageLogs {
  /** Runs a saved query over the last `hours`. @param value  the value of the query's parameter, if it has one. */
  run(name: SavedQueryName, value: string | undefined, hours: number): Promise<LogRow[]>;
  /**
   * Runs `act` and records it in the audit trail (decision 0035). It writes a line `begun` first; if that fails, it does not run `act`.
   * Afterwards it writes `done` or `failed`. If that line is missing, the command died or could not write it, and may have done `act`.
   * @throws AuditTrailError when the trail cannot be written; and every error of `act`.
   */
  audited<T>(event: AuditEvent, fields: Readonly<Record<string, unknown>>, act: () => Promise<T>): Promise<T>;
}

/** Nothing was done, because the audit trail cannot be written. */
export class AuditTrailError extends Error {
  constructor({ name, message }: Error) {
    super(`The audit trail cannot be written, so nothing was done (${name}: ${message}).`);
    this.name = 'AuditTrailError';
  }
}

export function logsOf(stage: StageName): StageLogs {
  let operator: Promise<string> | undefined;
  return {
    async run(name, value, hours) {
      const { of } = SAVED_QUERIES[name];
      const region = of === 'service' ? undefined : EDGE_REGION;
      const groups = await logStore.groups(`FileHosting-${stage}-`, region);
      const pattern = {
        service: /-(Api|Streaming|Data)-/,
        requests: /-EdgeAlarms.*-Requests/,
        downloads: /-Downloads/,
      }[of];
      const to = Date.now();
      const scope = { region, groups: groups.filter((group) => pattern.test(group)), from: to - hours * HOUR_MS, to };
      return logStore.query(queryText(name, value), scope);
    },

    async audited(event, fields, act) {
      const note = async (outcome: 'begun' | 'done' | 'failed') => {
        operator ??= logStore.callerArn();
        const who = { operator: await operator, host: hostname() };
        const record = { level: 'info', message: 'audit', event, outcome, ...fields, ...who };
        await logStore.write(required('AUDIT_LOG'), [record]);
      };
      await note('begun').catch((cause: Error) => {
        throw new AuditTrailError(cause);
      });
      try {
        const result = await act();
        await note('done').catch(() => {});
        return result;
      } catch (error) {
        await note('failed').catch(() => {});
        throw error;
      }
    },
  };
}
