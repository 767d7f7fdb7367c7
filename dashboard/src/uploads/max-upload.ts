/** The maximum size of a file in bytes, which the build takes from the environment (`vite.config.ts`). */
export const MAX_UPLOAD_BYTES: number = __MAX_UPLOAD_SIZE_BYTES__;

declare const __MAX_UPLOAD_SIZE_BYTES__: number;
