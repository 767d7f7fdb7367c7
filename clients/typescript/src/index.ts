export type { UploadSource } from './content.ts';
export type { DownloadOptions, DownloadPoint } from './download.ts';
export { downloadUrl } from './download-url.ts';
export { type ErrorCode, FileHostingError } from './error.ts';
export type { Fetch } from './fetch-with.ts';
export { type ClientOptions, FileHosting, type ListOptions, type TicketOptions } from './file-hosting.ts';
export type { Progress, UploadedFile, UploadOptions } from './job.ts';
export type { RetryOptions, Wait } from './retry.ts';
export type { OpenTicket } from './send-directly.ts';
export type {
  ApiKey,
  ApiKeyWithSecret,
  FileRecord,
  FilesPage,
  Profile,
  ServiceErrorCode,
  Session,
  Usage,
} from './types.ts';
export { type UploadToOptions, uploadTo } from './upload-to.ts';
