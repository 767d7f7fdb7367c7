/** One action on one resource that a call needs; a call may need several. */
export interface Permission {
  /** As in a policy: `s3:GetObject`. */
  readonly action: string;
  /** ARN; `*` for actions that know no resources. */
  readonly resource: string;
  /** Condition keys this call has, besides those every call has. */
  readonly context?: Readonly<Record<string, string | string[]>>;
  /** The policy of the resource, where there may be one. */
  readonly bucket?: string;
}
