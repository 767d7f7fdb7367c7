import { setTimeout } from 'node:timers/promises';
import { authenticate } from './authenticate.ts';
import type { FaultSource, TakenFault } from './faults.ts';
import type { Gate } from './gate.ts';
import { ClientGone, type KeepingMessage, keepingBody, type Message, type Reply } from './message.ts';
import type { MeteredCall, MeterWriter } from './meter.ts';
import type { Account, Principal } from './principals.ts';
import { Problem } from './problem.ts';
import type { Call, Consumption, PerformedReply, Protocol } from './protocol.ts';

/** What a client gets in place of an answer: the connection is cut, or stays open and silent until the client gives up. */
export type NoReply = 'cut' | 'silence';

interface FrontParts {
  readonly account: Account;
  readonly principals: ReadonlyMap<string, Principal>;
  readonly gate: Gate;
  readonly meter: MeterWriter;
  readonly faults: FaultSource;
  readonly onCall: (call: MeteredCall) => void;
}

/** What the front has found out about a request so far. */
interface Progress {
  readonly startedAt: number;
  principal: string;
  call?: Call;
  consumed?: readonly Consumption[];
}

/** Answers one request: authenticates it, interprets it, checks its permissions, performs it, and records its cost. */
export async function answer(parts: FrontParts, protocol: Protocol, request: Message): Promise<Reply | NoReply> {
  const message = keepingBody(request);
  const progress: Progress = { startedAt: parts.meter.begin(), principal: '' };
  const complete = (reply: Reply) => protocol.complete?.(message, reply) ?? reply;
  let reply: Reply | NoReply;
  try {
    const outcome = await handle(parts, protocol, message, progress);
    reply = typeof outcome === 'string' ? outcome : complete(outcome);
  } catch (error) {
    reply = error instanceof ClientGone ? 'cut' : complete(protocol.renderError(error));
  }
  recordCall(parts, message, progress, typeof reply === 'string' ? 0 : reply.status);
  return reply;
}

async function handle(
  { account, principals, gate, faults }: FrontParts,
  { clockSkewSeconds, open, preflight }: Protocol,
  message: KeepingMessage,
  progress: Progress,
): Promise<Reply | NoReply> {
  if (message.method === 'OPTIONS' && preflight) return preflight(message);
  const { payloadHash, interpret } = await open(message);
  const identity = authenticate(message, { principals, account, clockSkewSeconds, payloadHash });
  progress.principal = identity.caller.name;
  const call = interpret(identity);
  progress.call = call;
  await gate.require(identity.caller, call.permissions);
  const fault = faults.take({ ...call, principal: identity.caller.name });
  return fault ? applyFault(fault, { call, message, progress }) : perform(call, progress);
}

async function perform(call: Call, progress: Progress): Promise<PerformedReply> {
  const reply = await call.perform();
  if (reply.consumed) progress.consumed = reply.consumed;
  return reply;
}

async function applyFault(
  { effect, table, happenLate }: TakenFault,
  { call, message, progress }: { call: Call; message: KeepingMessage; progress: Progress },
): Promise<Reply | NoReply> {
  if (typeof effect === 'object' && 'lateBy' in effect) {
    await message.keepBody();
    happenLate(effect.lateBy, async () => {
      const reply = await call.perform();
      discard(reply);
      return reply;
    });
    return 'cut';
  }
  if (typeof effect === 'object' && 'answer' in effect) {
    const { status, body } = effect.answer;
    return { status, headers: { 'content-type': 'application/x-amz-json-1.0' }, body: JSON.stringify(body) };
  }
  if (typeof effect === 'object') {
    const reply = await perform(call, progress);
    await ('delayMs' in effect ? setTimeout(effect.delayMs) : effect.answeredAfter.catch(() => {}));
    return reply;
  }
  switch (effect) {
    case 'throttle':
      throw call.throttled();
    case 'conflict':
      throw call.conflict?.(table) ?? new Problem('internal-error');
    case 'error-before':
      throw new Problem('internal-error');
    case 'error-after':
      discard(await perform(call, progress));
      throw new Problem('internal-error');
    case 'cut-after':
      discard(await perform(call, progress));
      return 'cut';
    case 'cut':
      return 'cut';
    case 'timeout':
      return 'silence';
  }
}

/** An answer that is not sent may hold an open file, which has to be closed. */
function discard({ body }: Reply): void {
  if (body !== undefined && typeof body !== 'string' && 'destroy' in body) body.destroy();
}

/** Records a request that became a call. @param status  of the answer; 0 when there was none. */
function recordCall({ meter, onCall }: FrontParts, { headers }: Message, progress: Progress, status: number): void {
  const { call, consumed = [], principal, startedAt } = progress;
  if (!call) return;
  const { service, operation } = call;
  const traceId = /Root=([^;]+)/.exec(String(headers['x-amzn-trace-id']))?.[1];
  const metered = { service, operation, tables: [...new Set(call.tables)], principal, status, consumed };
  onCall(meter.end(startedAt, traceId === undefined ? metered : { ...metered, traceId }));
}
