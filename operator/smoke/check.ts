import type { Service } from './service.ts';

export interface Settings {
  readonly service: Service;
  /** The deployment's `MAX_UPLOAD_SIZE_BYTES`. */
  readonly maxUploadBytes: number;
  /** No check stores a file larger than this. Some checks send a larger body, which the service must refuse. */
  readonly largestBytes: number;
  /** False where the deployment has no streaming function. */
  readonly isStreaming: boolean;
  /** The address of the gateway itself, which bypasses CloudFront; undefined when it was not given. */
  readonly gatewayUrl: string | undefined;
}

/** One claim about the service. */
export interface Check {
  readonly name: string;
  /** @returns a remark to print, if any. @throws NotTried when the check does not apply; Error whose message says what is wrong. */
  run(settings: Settings): Promise<string | undefined>;
}

/** The check does not apply to this deployment or to the options; the message is the reason. */
export class NotTried extends Error {}
