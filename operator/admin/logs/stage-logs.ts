import { hostname } from 'node:os';
import type { StageName } from '../../../infra/settings/stage.ts';
import { required } from '../../../shared/env.ts';
import type { AuditEvent } from '../../../shared/log.ts';
import { type LogRow, rowOf } from './log-row.ts';
import { LINES_MAX, logStore } from './log-store.ts';

/** Where CloudFront delivers its logs, wherever the service is. */
const EDGE_REGION = 'us-east-1';
const HOUR_MS = 3_600_000;
/** Matches the names of the log groups: of the service the fixed ones, and the generated one of the audit trail. */
const GROUPS = { service: /^FileHosting-\w+-([a-z]\w*$|Data-AuditLog)/, edge: /-EdgeAlarms.*-Requests/ };

/** What a command looks for in the logs. */
export interface Search {
  /** The logs that are searched. `service`: functions, gateway and audit trail. `edge`: CloudFront's, in us-east-1. */
  readonly of: 'service' | 'edge';
  /** A line must contain these texts anywhere. */
  readonly containing?: readonly string[];
  /** A line must have exactly these values in its fields. So no line is found in which a client has only sent the value. */
  readonly having?: Readonly<Record<string, string>>;
  /** The most rows that the command shows; all by default. */
  readonly most?: number;
  /** How far to look back. */
  readonly hours: number;
  /** The end of the searched hours, in epoch milliseconds; now by default. */
  readonly until?: number | undefined;
}

interface Found {
  /** Newest first. */
  readonly rows: readonly LogRow[];
  /** True when there may be older rows than these. */
  readonly isCut: boolean;
}

/** The logs of one stage, as commands use them. */
export interface StageLogs {
  search(search: Search): Promise<Found>;
  /**
   * Runs `act` and records it in the audit trail (decision 0035). First a line `begun` is written; if that fails, `act` does not run. After
   * `act` a line `done` or `failed` is written. If this second line cannot be written, it is shown to the operator, who has to keep it; the
   * result of `act` stays the same. A `begun` without a second line means that the command died or could not write the second line; `act`
   * may have run.
   * @throws AuditTrailError when the line `begun` cannot be written; and every error of `act`.
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

/** @param warn  shows the operator a line that is not part of the command's result. */
export function logsOf(stage: StageName, warn: (line: string) => void): StageLogs {
  let operator: Promise<string> | undefined;
  return {
    async search({ of, containing = [], having = {}, most = LINES_MAX, hours, until: to = Date.now() }) {
      const region = of === 'service' ? undefined : EDGE_REGION;
      const groups = await logStore.groups(`FileHosting-${stage}-`, region);
      const scope = {
        region,
        groups: groups.filter((group) => GROUPS[of].test(group)),
        from: to - hours * HOUR_MS,
        to,
      };
      const lines = await logStore.search([...containing, ...Object.values(having)], scope);
      const rows = lines
        .map(rowOf)
        .filter((row) => Object.entries(having).every(([field, value]) => row[field] === value));
      return { rows: rows.slice(0, most), isCut: rows.length > most || lines.length === LINES_MAX };
    },

    async audited(event, fields, act) {
      operator ??= logStore.callerArn();
      const recordOf = async (outcome: Outcome) => {
        const who = { operator: await operator, host: hostname() };
        return { level: 'info', message: 'audit', event, outcome, ...fields, ...who };
      };
      const noteEnd = async (outcome: Outcome) => {
        const record = await recordOf(outcome);
        await writeToTrail(record).catch((cause: Error) => warn(missingEnd(record, cause)));
      };
      await recordOf('begun')
        .then(writeToTrail)
        .catch((cause: Error) => {
          throw new AuditTrailError(cause);
        });
      const result = await act().catch(async (error) => {
        await noteEnd('failed');
        throw error;
      });
      await noteEnd('done');
      return result;
    },
  };
}

type Outcome = 'begun' | 'done' | 'failed';

const writeToTrail = (record: object) => logStore.write(required('AUDIT_LOG'), record);

/** The message to the operator when the second line could not be written to the audit trail. */
function missingEnd(record: { readonly event: AuditEvent; readonly outcome: Outcome }, cause: Error): string {
  const { event, outcome } = record;
  const what = outcome === 'done' ? `${event} is done` : `${event} failed, and may be done in part`;
  const line = JSON.stringify({ time: new Date().toISOString(), ...record });
  return `${what}, but this could not be written to the audit trail (${cause.name}: ${cause.message}). Keep this line: ${line}`;
}
