/** The largest file in bytes, as the service was deployed with (`vite.config.ts`). */
export const MAX_UPLOAD_BYTES: number = __MAX_UPLOAD_SIZE_BYTES__;

declare const __MAX_UPLOAD_SIZE_BYTES__: number;
