/** Who is asking, once a credential was found good. */
export interface Caller {
  readonly accountId: string;
  readonly by: 'key' | 'session';
  /** Of the session's row; only with `by: 'session'`. Safe to hold, useless as a cookie. */
  readonly sessionHash?: string;
}
