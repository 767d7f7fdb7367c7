export type { UploadSource } from './content.ts';
export { downloadUrl } from './download-url.ts';
export { type ErrorCode, FileHostingError } from './error.ts';
export { type ClientOptions, FileHosting, type ListOptions } from './file-hosting.ts';
export type { Progress, UploadOptions } from './job.ts';
export type { RetryOptions, Wait } from './retry.ts';
export type { ApiKey, ApiKeyWithSecret, FileRecord, FilesPage, Profile, ServiceErrorCode, Session } from './types.ts';
