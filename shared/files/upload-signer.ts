/** What a direct upload may put, and where. */
export interface PutPermission {
  readonly key: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly checksumSha256?: string;
}

export interface SignedPut {
  readonly url: string;
  /** What the client must send as it stands; `Content-Length` and `Host`, which are signed as well, it sends by itself. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Signs a URL that takes one PUT of exactly these bytes, once.
 * @param validity  from when (epoch milliseconds), and for how many seconds, the PUT may begin.
 */
export type SignUpload = (
  permission: PutPermission,
  validity: { readonly now: number; readonly seconds: number },
) => Promise<SignedPut>;
