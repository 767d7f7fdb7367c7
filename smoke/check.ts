import type { Service } from './service.ts';

export interface Settings {
  readonly service: Service;
  /** The deployment's `MAX_UPLOAD_SIZE_BYTES`. */
  readonly maxUploadBytes: number;
  /** No file larger than this is uploaded. */
  readonly largestBytes: number;
  /** False where the deployment has no streaming function. */
  readonly isStreaming: boolean;
  /** The address of the gateway itself, past CloudFront; undefined when it was not given. */
  readonly gatewayUrl: string | undefined;
}

/** Something that holds or does not. */
export interface Check {
  readonly name: string;
  /** @returns a remark for the line, if there is one. @throws NotTried; Error that says what does not hold. */
  run(settings: Settings): Promise<string | undefined>;
}

/** The check does not apply to this deployment, or was not asked for; the message says why. */
export class NotTried extends Error {}
