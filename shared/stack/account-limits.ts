import type { AccountLimits } from '../accounts/allowance.ts';
import { limit } from '../env.ts';

/** The limits of every account, from the variables of the function. */
export const accountLimits: AccountLimits = {
  storageLimitBytes: limit('STORAGE_LIMIT_BYTES'),
  fileCountLimit: limit('FILE_COUNT_LIMIT'),
  uploadBytesPerDay: limit('UPLOAD_BYTES_PER_DAY'),
};
