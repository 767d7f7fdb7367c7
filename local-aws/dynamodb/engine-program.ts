/** A program that answers as DynamoDB does, over HTTP. */
export interface EngineProgram {
  /** As messages call it. */
  readonly name: string;
  /** Whether it acknowledges a write only when the write is on disk, so that data outlives the process. */
  readonly keepsData: boolean;
  /** Chooses an address that pages in a browser and other machines do not know. */
  hiddenAddress(): EngineAddress;
  /** @param file  of the data; undefined: in memory. */
  command(
    to: EngineAddress & { readonly port: number },
    file: string | undefined,
  ): { readonly command: string; readonly args: readonly string[]; readonly cwd?: string };
  /**
   * One sentence on why it did not come up.
   * @param code  its exit code, its signal, or why it could not be run, such as `ENOENT`.
   */
  whyItFailed(code: string | number, stderr: string): string;
}

export interface EngineAddress {
  readonly host: string;
  /** The access key id whose tables are meant. Without it, all ids have the same tables. */
  readonly user?: string;
}
