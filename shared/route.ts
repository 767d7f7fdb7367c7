import type { LimitName } from './contract/limits.ts';
import type { RouteContract } from './contract/route.ts';
import type { VariableName } from './env.ts';
import type { TableName } from './tables.ts';

/**
 * A route, declared in a file beside its handler (`<name>.route.ts`). Gateway, function, role, documents, samples and the tests that visit
 * every route are made from the declaration. The declaration imports neither its handler nor a store, so that the stacks can read it.
 */
export interface Route extends RouteContract {
  /** The module whose `handler` answers, relative to the project's root. */
  readonly entry: string;
  /** What the handler itself needs. The stack adds what the checks before the handler need (`needsOf` in `infra/`). */
  readonly needs: Needs;
  /** {@link MEMORY_DEFAULT_MB} when absent. */
  readonly memoryMb?: number;
  /** True when its lines belong to the audit trail, because it finishes logins, ends sessions, or makes or revokes keys (decision 0035). */
  readonly isAudited?: true;
}

/**
 * The memory of a route, in MB. It decides the share of a processor: 1,769 MB give a whole processor, and JavaScript uses no more than one.
 *
 * A details request takes about 2 ms of a processor and, by our estimate, waits 10 ms for DynamoDB. So a million of these requests cost, by
 * memory:
 *
 *     256 MB    24 ms each    $0.08
 *     512 MB    17 ms each    $0.11
 *     1,024 MB  13 ms each    $0.18
 *     1,769 MB  12 ms each    $0.28
 *
 * The invocations cost another $0.20, and the gateway $3.50. More than 512 MB costs more than it gives to a route that mostly waits.
 */
export const MEMORY_DEFAULT_MB = 512;

/** A DynamoDB action without its prefix. A transaction needs the action of each of its items. */
type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'Scan'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'BatchWriteItem'
  | 'ConditionCheckItem';

export interface TableUse {
  readonly table: TableName;
  readonly actions: readonly TableAction[];
  /** The index that the actions are for, instead of the table. */
  readonly index?: string;
}

interface BucketUse {
  /** Actions without the prefix `s3:`. */
  readonly actions: readonly string[];
  /** The keys that the actions are for. Absent for actions on the bucket itself. */
  readonly keys?: readonly ('uploads/*' | 'incoming/*')[];
}

/** What a function may touch, and which variables it gets. Grants and variables are both made from this, so they always match. */
export interface Needs {
  readonly tables?: readonly TableUse[];
  readonly uploads?: readonly BucketUse[];
  readonly limits?: readonly LimitName[];
  readonly secrets?: readonly ('loginClientSecret' | 'originSecret')[];
  readonly values?: readonly ('cdnUrl' | 'appUrl' | 'loginProvider' | 'canaryKey')[];
  /** The lists of who may log in, if they are not empty. */
  readonly optional?: readonly ('ALLOWED_EMAIL_DOMAINS' | 'ALLOWED_EMAILS')[];
  /** Values of variables that only this function has, and that need no grant. */
  readonly variables?: Readonly<Partial<Record<VariableName, string>>>;
}
