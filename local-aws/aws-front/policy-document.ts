/** An IAM policy of a template, with its references resolved. */
export interface PolicyDocument {
  readonly Version?: string;
  readonly Statement: readonly object[] | object;
}

/**
 * The condition keys and policy variables whose values the front knows, in lower case. Any other key would be evaluated as if it were
 * absent, and the result could differ from that of AWS.
 */
const SUPPORTED = new Set([
  'aws:principalaccount',
  'aws:principalarn',
  'aws:principalisawsservice',
  'aws:principalservicename',
  'aws:requestedregion',
  'aws:resourceaccount',
  'aws:securetransport',
  'aws:sourceaccount',
  'aws:sourcearn',
  'dynamodb:enclosingoperation',
  's3:authtype',
  's3:if-none-match',
  's3:max-keys',
  's3:prefix',
  's3:resourceaccount',
  's3:signatureage',
  's3:signatureversion',
  's3:x-amz-content-sha256',
  's3:x-amz-copy-source',
  's3:x-amz-metadata-directive',
]);

/** The condition keys and variables that a policy mentions, in lower case. */
export function mentionedKeys(policy: PolicyDocument): Set<string> {
  const statements = [policy.Statement].flat() as { Condition?: Record<string, Record<string, unknown>> }[];
  const conditions = statements.flatMap(({ Condition = {} }) => Object.values(Condition).flatMap(Object.keys));
  const variables = [...JSON.stringify(policy).matchAll(/\$\{([\w-]+:[\w/-]+)/g)].map(([, name = '']) => name);
  return new Set([...conditions, ...variables].map((key) => key.toLowerCase()));
}

/** @throws Error when a policy mentions a condition key that the front does not know. */
export function requireSupportedKeys(policy: PolicyDocument, owner: string): void {
  const unknown = [...mentionedKeys(policy)].filter((key) => !SUPPORTED.has(key));
  if (unknown.length === 0) return;
  throw new Error(`a policy of ${owner} has conditions that the local AWS cannot evaluate: ${unknown.join(', ')}`);
}
