import { randomUUID } from 'node:crypto';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { AccountLimits } from '../../../shared/accounts/allowance.ts';
import { SHARDS } from '../../../shared/contract/limits.ts';
import { completeUpload } from '../../../shared/files/complete-upload.ts';
import { createTicket, type IssuedTicket, type TicketInput } from '../../../shared/files/create-ticket.ts';
import { settleUpload } from '../../../shared/files/settle-upload.ts';
import { shardOf } from '../../../shared/files/shards.ts';
import { stageUpload, type UploadRequest } from '../../../shared/files/stage-upload.ts';
import { type SweepReport, sweep } from '../../../shared/files/sweep.ts';
import type { Service } from './service.ts';

/** The actions that tests take on the service. Each has defaults for everything that does not matter to a test. */

export const MIB = 1024 * 1024;
export const HOUR_MS = 3_600_000;
const LIMITS = { maxBytes: 100 * MIB };
export const ACCOUNT_LIMITS = {
  storageLimitBytes: 2_048 * MIB,
  fileCountLimit: 1_000,
  uploadBytesPerDay: 50 * 1_024 * MIB,
};

/** A deadline that leaves time for every retry that a test provokes. */
export const inTime = () => ({ deadlineAt: Date.now() + 20_000, fileCountLimit: ACCOUNT_LIMITS.fileCountLimit });

let accounts = 0;

/**
 * Creates a new account, in the shard after that of the account before. So a sweep for one account finds no work of another.
 * @param options.ownLimitBytes  a storage limit that the operator set for it.
 */
export async function newAccount({ stores, engine, tables }: Service, options: { ownLimitBytes?: number } = {}) {
  const id = randomUUID().slice(0, -2) + (accounts++ % SHARDS).toString(16).padStart(2, '0');
  await stores.accounts.upsert({ id, email: `${id}@example.com`, name: 'Somebody' }, Date.now());
  if (options.ownLimitBytes !== undefined) {
    await engine.send(
      new UpdateItemCommand({
        TableName: tables.accounts,
        Key: { id: { S: id } },
        UpdateExpression: 'SET storage_limit_bytes = :limit',
        ExpressionAttributeValues: { ':limit': { N: String(options.ownLimitBytes) } },
      }),
    );
  }
  return id;
}

/** The limits that a test sets, and the defaults of those that it does not set. */
function limitsOf(options: Partial<AccountLimits>): AccountLimits {
  const { storageLimitBytes, fileCountLimit, uploadBytesPerDay } = { ...ACCOUNT_LIMITS, ...options };
  return { storageLimitBytes, fileCountLimit, uploadBytesPerDay };
}

/** Content in chunks, as a body yields it. */
export async function* chunks(...contents: (Uint8Array | string)[]): AsyncGenerator<Uint8Array> {
  for (const content of contents) yield Buffer.from(content);
}

/** Content that breaks off. */
export async function* broken(content: Uint8Array | string, error: Error): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
  throw error;
}

export interface UploadOptions extends Partial<Omit<UploadRequest, 'limits'>>, Partial<AccountLimits> {
  readonly clock?: () => number;
}

export function stage(
  { stores }: Service,
  accountId: string,
  content: UploadRequest['content'],
  options: UploadOptions = {},
) {
  const { clock, ...request } = options;
  return stageUpload(
    stores,
    {
      accountId,
      clientName: 'hello.txt',
      declaredType: 'text/plain',
      content,
      ...LIMITS,
      limits: limitsOf(options),
      ...request,
    },
    clock,
  );
}

/** An upload by a form, from end to end. */
export async function upload(
  service: Service,
  accountId: string,
  content: Uint8Array | string = 'hello',
  options: UploadOptions = {},
) {
  const staged = await stage(service, accountId, chunks(content), options);
  return settleUpload(service.stores, staged, inTime(), options.clock);
}

export interface TicketOptions
  extends Partial<Omit<TicketInput, 'accountId' | 'request' | 'limits'>>,
    Partial<AccountLimits> {
  readonly name?: string;
  readonly checksumSha256?: string;
  readonly clock?: () => number;
}

export function askForTicket({ stores }: Service, accountId: string, sizeBytes: number, options: TicketOptions = {}) {
  const { clock, name = 'direct.bin', checksumSha256, ...input } = options;
  const request = {
    name,
    mimeType: 'application/octet-stream',
    sizeBytes,
    ...(checksumSha256 !== undefined && { checksumSha256 }),
  };
  return createTicket(stores, { accountId, request, limits: limitsOf(options), ...inTime(), ...input }, clock);
}

export async function newTicket(...args: Parameters<typeof askForTicket>): Promise<IssuedTicket> {
  const answer = await askForTicket(...args);
  if (answer.kind !== 'ticket') throw new Error('the ticket has become a file');
  return answer.ticket;
}

/** PUTs a body by a ticket. @returns the status of S3's answer. */
export async function put(
  { put: { url, headers } }: IssuedTicket,
  body: Uint8Array | string,
  more = {},
): Promise<number> {
  const response = await fetch(url, { method: 'PUT', headers: { ...headers, ...more }, body });
  await response.arrayBuffer();
  return response.status;
}

/** A direct upload from end to end. */
export async function uploadDirectly(
  service: Service,
  accountId: string,
  content: string,
  options: TicketOptions = {},
) {
  const ticket = await newTicket(service, accountId, Buffer.byteLength(content), options);
  await put(ticket, content);
  return completeUpload(service.stores, { accountId, id: ticket.id }, inTime());
}

/** Sweeps the shards of these accounts, and the ranges of the bucket with the same numbers. */
export function sweepAt({ stores }: Service, now: number, ...accountIds: string[]): Promise<SweepReport> {
  const shards = [...new Set(accountIds.map(shardOf))];
  return sweep(stores, { now, shards, budget: { rows: 1_000, deadlineAt: Date.now() + HOUR_MS } });
}

/** Sweeps everything, and walks the whole bucket if its walk is due. */
export function sweepAll({ stores }: Service, now: number): Promise<SweepReport> {
  return sweep(stores, { now, budget: { rows: 1_000, deadlineAt: Date.now() + HOUR_MS } });
}

/** Sweeps for an account at a time when all its work that has begun by now is overdue, also work that a dead sweeper has taken. */
export async function sweepLater(service: Service, accountId: string): Promise<void> {
  await sweepAt(service, Date.now() + HOUR_MS, accountId);
}
