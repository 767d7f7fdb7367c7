import type { ErrorCode } from '../../../clients/typescript/src/index.ts';

/**
 * The reason why a request failed. `day_used_up`: the account has used up its bytes of the day. The dashboard shows this at once and
 * does not wait, because the wait may take hours.
 */
export type FailureCode = ErrorCode | 'day_used_up';
