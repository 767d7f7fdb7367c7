import { setTimeout } from 'node:timers/promises';
import { authenticate } from './authenticate.ts';
import type { FaultSource, TakenFault } from './faults.ts';
import type { Gate } from './gate.ts';
import { ClientGone, type KeepingMessage, keepingBody, type Message, type Reply } from './message.ts';
import type { MeteredCall, MeterWriter } from './meter.ts';
import type { Account, Principal } from './principals.ts';
import { Problem } from './problem.ts';
import type { Call, Consumption, PerformedReply, Protocol } from './protocol.ts';

/** Instead of an answer: the connection ends, or stays open and silent until the client gives up. */
export type NoReply = 'cut' | 'silence';

export interface FrontParts {
  readonly account: Account;
  readonly principals: ReadonlyMap<string, Principal>;
  readonly gate: Gate;
  readonly meter: MeterWriter;
  readonly faults: FaultSource;
  readonly onCall: (call: MeteredCall) => void;
}

/** What becomes known of a request on its way. */
interface Trail {
  readonly startedAt: number;
  principal: string;
  call?: Call;
  consumed?: readonly Consumption[];
}

/** The whole way of a request: who sends it, what it asks, whether it may, what happens, what it cost. */
export async function answer(parts: FrontParts, protocol: Protocol, request: Message): Promise<Reply | NoReply> {
  const message = keepingBody(request);
  const trail: Trail = { startedAt: parts.meter.begin(), principal: '' };
  const complete = (reply: Reply) => protocol.complete?.(message, reply) ?? reply;
  let reply: Reply | NoReply;
  try {
    const outcome = await travel(parts, protocol, message, trail);
    reply = typeof outcome === 'string' ? outcome : complete(outcome);
  } catch (error) {
    reply = error instanceof ClientGone ? 'cut' : complete(protocol.renderError(error));
  }
  record(parts, message, trail, typeof reply === 'string' ? 0 : reply.status);
  return reply;
}

async function travel(
  { account, principals, gate, faults }: FrontParts,
  { clockSkewSeconds, open, preflight }: Protocol,
  message: KeepingMessage,
  trail: Trail,
): Promise<Reply | NoReply> {
  if (message.method === 'OPTIONS' && preflight) return preflight(message);
  const { payloadHash, interpret } = await open(message);
  const identity = authenticate(message, { principals, account, clockSkewSeconds, payloadHash });
  trail.principal = identity.caller.name;
  const call = interpret(identity);
  trail.call = call;
  await gate.require(identity.caller, call.permissions);
  const fault = faults.take({ ...call, principal: identity.caller.name });
  return fault ? applyFault(fault, { call, message, trail }) : perform(call, trail);
}

async function perform(call: Call, trail: Trail): Promise<PerformedReply> {
  const reply = await call.perform();
  if (reply.consumed) trail.consumed = reply.consumed;
  return reply;
}

async function applyFault(
  { effect, table, happenLate }: TakenFault,
  { call, message, trail }: { call: Call; message: KeepingMessage; trail: Trail },
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
  if (typeof effect === 'object') {
    const reply = await perform(call, trail);
    await setTimeout(effect.delayMs);
    return reply;
  }
  switch (effect) {
    case 'throttle':
      throw call.throttled();
    case 'transaction-conflict':
      throw call.conflict?.(table) ?? new Problem('internal-error');
    case 'error-before':
      throw new Problem('internal-error');
    case 'error-after':
      discard(await perform(call, trail));
      throw new Problem('internal-error');
    case 'cut-after':
      discard(await perform(call, trail));
      return 'cut';
    case 'cut':
      return 'cut';
    case 'timeout':
      return 'silence';
  }
}

/** An answer that is not sent may hold an open file. */
function discard({ body }: Reply): void {
  if (body !== undefined && typeof body !== 'string' && 'destroy' in body) body.destroy();
}

function record({ meter, onCall }: FrontParts, { headers }: Message, trail: Trail, status: number): void {
  const { call, consumed = [], principal, startedAt } = trail;
  if (!call) return;
  const { service, operation } = call;
  const traceId = /Root=([^;]+)/.exec(String(headers['x-amzn-trace-id']))?.[1];
  const metered = { service, operation, tables: [...new Set(call.tables)], principal, status, consumed };
  onCall(meter.end(startedAt, traceId === undefined ? metered : { ...metered, traceId }));
}
