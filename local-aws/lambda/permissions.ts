import type { Deployment, Properties } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

/** Who may invoke a function: one `AWS::Lambda::Permission`. */
interface InvokePermission {
  readonly functionArn: string;
  /** A service, such as `events.amazonaws.com`. */
  readonly principal: string;
  /** With `*` and `?`; absent when any resource of the service may. */
  readonly sourceArn?: string;
}

/** A service of AWS that wants to invoke a function. */
export interface Invoker {
  readonly principal: string;
  /** The rule or method it does it for. */
  readonly sourceArn: string;
}

export type MayInvoke = (functionArn: string, invoker: Invoker) => boolean;

/** Reads the functions' resource policies: a service without a permission is refused, as on AWS. */
export function readPermissions(deployment: Deployment): MayInvoke {
  const permissions = deployment
    .resources('AWS::Lambda::Permission')
    .map(({ logicalId, properties }) => readPermission(logicalId, properties()));
  return (functionArn, { principal, sourceArn }) =>
    permissions.some(
      (permission) =>
        permission.functionArn === functionArn &&
        permission.principal === principal &&
        (permission.sourceArn === undefined || matchesPattern(permission.sourceArn, sourceArn)),
    );
}

function readPermission(logicalId: string, properties: Properties): InvokePermission {
  return readProperties(
    logicalId,
    properties,
    (take) => {
      const action = take<string>('Action');
      if (action !== 'lambda:InvokeFunction') throw new Error(`${logicalId}: no ${action} on one machine`);
      const sourceArn = take<string>('SourceArn', '');
      return {
        functionArn: take<string>('FunctionName'),
        principal: take<string>('Principal'),
        ...(sourceArn && { sourceArn }),
      };
    },
    // There is one account.
    ['SourceAccount'],
  );
}

function matchesPattern(pattern: string, text: string): boolean {
  const literal = (part: string) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const source = pattern.replace(/[*?]|[^*?]+/g, (part) => (part === '*' ? '.*' : part === '?' ? '.' : literal(part)));
  return new RegExp(`^${source}$`, 's').test(text);
}
