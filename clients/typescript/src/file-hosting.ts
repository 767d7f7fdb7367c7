import { pageIn, recordIn } from './answer.ts';
import { Api, type CallOptions, type Connecting, type Method } from './api.ts';
import { UNKNOWN_TYPE, type UploadSource } from './content.ts';
import { type DownloadOptions, download } from './download.ts';
import { FileHostingError, invalid } from './error.ts';
import { newJob, type UploadedFile, type UploadOptions } from './job.ts';
import { listAll } from './list-all.ts';
import type { Pace } from './pace.ts';
import { type RetryOptions, retry } from './retry.ts';
import { askForTicket, type OpenTicket, ticketIn } from './send-directly.ts';
import type {
  ApiKey,
  ApiKeys,
  ApiKeyWithSecret,
  FileRecord,
  FilesPage,
  Profile,
  Session,
  Sessions,
  Usage,
} from './types.ts';
import { upload } from './upload.ts';

export interface ClientOptions extends Partial<Connecting> {
  /**
   * The address of the service, with or without `/api/v1`. The default is the variable `FILE_HOSTING_URL`, or in a browser the
   * origin of the page.
   */
  readonly url?: string | undefined;
  /** The API key. The default is the variable `FILE_HOSTING_KEY`, or in a browser the session that is logged in. */
  readonly key?: string | undefined;
  /** How often a call is repeated after failed attempts, unless the call sets its own number. Default 5. */
  readonly retries?: number | undefined;
}

/** What the content of a ticket will be. */
export interface TicketOptions extends Pick<UploadOptions, 'name' | 'type' | 'idempotencyKey'>, RetryOptions {
  /** The size of the content, in bytes. The ticket takes no other. */
  readonly size: number;
  /** The SHA-256 of the content, in base64. The ticket then takes no other content. */
  readonly checksumSha256?: string | undefined;
}

export interface ListOptions extends RetryOptions {
  /** Files on a page, at most 100. Default 50, and 100 in {@link FileHosting.listAll}. */
  readonly limit?: number | undefined;
  /** Part of the name, in upper or lower case. */
  readonly search?: string | undefined;
}

/** A client of the file-hosting service. Every method throws a `FileHostingError`. */
export class FileHosting {
  readonly #api: Api;
  readonly #hasKey: boolean;
  readonly #retries: number | undefined;
  /** What the rate limit of uploads allows, as the answers so far have reported it. */
  readonly uploadPace: Pick<Pace, 'secondsFor'>;

  constructor({ url, key, fetch, stallSeconds, retries }: ClientOptions = {}) {
    const secret = (key ?? variable('FILE_HOSTING_KEY'))?.trim() || undefined;
    if (secret !== undefined && !/^[!-~]+$/.test(secret)) throw invalid('The key has a character that no key can have');
    this.#api = new Api(addressOf(url ?? variable('FILE_HOSTING_URL')), secret, { fetch, stallSeconds });
    this.#hasKey = secret !== undefined;
    this.#retries = retries;
    this.uploadPace = this.#api.paces.uploads;
  }

  /**
   * Uploads one file, and repeats failed attempts by itself. All attempts together make one file, or the call ends with an error.
   * @param source  a path, Blob, File, bytes, or a stream. At most 4 MiB of a stream are kept in memory. A browser cannot send while it
   *   reads, so in a browser the whole stream is read first.
   */
  upload(source: UploadSource, options: UploadOptions = {}): Promise<UploadedFile> {
    return upload(this.#api, source, this.#with(options));
  }

  /**
   * Creates a ticket, with which `uploadTo` sends content without a key, for example in a page. With an `idempotencyKey` of an earlier
   * ticket the result is this ticket, with a new URL, or the file that it has become.
   */
  createTicket(options: TicketOptions & { readonly idempotencyKey?: undefined }): Promise<OpenTicket>;
  createTicket(options: TicketOptions): Promise<OpenTicket | UploadedFile>;
  createTicket(options: TicketOptions): Promise<OpenTicket | UploadedFile> {
    const { name = '', type, size: size_bytes, checksumSha256: checksum_sha256 } = options;
    const job = newJob(this.#api, this.#with(options));
    const json = { name, mime_type: type || UNKNOWN_TYPE, size_bytes, ...(checksum_sha256 && { checksum_sha256 }) };
    return retry(async () => ticketIn(await askForTicket(job, json, job), job), job);
  }

  /** Makes a file of the content that was sent with a ticket. */
  complete(ticketId: string, options: RetryOptions = {}): Promise<FileRecord> {
    const [path, settings] = [`${pathOf('/uploads', ticketId)}/complete`, this.#with(options)];
    return retry(async () => recordIn(await this.#api.request('POST', path, settings)), settings);
  }

  /**
   * Downloads a file, beginning with the first read. After a lost connection the download continues where it was, and never mixes the bytes
   * of two files. The stream fails with a `FileHostingError`: `not_found` when the file was deleted, `unreadable` when the link gives
   * another file than before.
   */
  download(file: Pick<FileRecord, 'url' | 'size_bytes'>, options: DownloadOptions = {}): ReadableStream<Uint8Array> {
    return download(this.#api.using, file, this.#with(options));
  }

  /** One page of the files, newest first. */
  list({
    page = 1,
    limit = 50,
    search,
    ...options
  }: ListOptions & { readonly page?: number | undefined } = {}): Promise<FilesPage> {
    const parameters = new URLSearchParams({ page: String(page), limit: String(limit), ...(search && { search }) });
    const settings = { ...this.#with(options), rate: 'lists' } as const;
    return retry(async () => pageIn(await this.#api.request('GET', `/files?${parameters}`, settings)), settings);
  }

  /** All files, newest first. The loop may delete files, and others may add and delete files at the same time. */
  listAll({ limit = 100, ...options }: ListOptions = {}): AsyncGenerator<FileRecord, void, undefined> {
    return listAll((page) => this.list({ ...options, limit, page }));
  }

  get(id: string, options: RetryOptions = {}): Promise<FileRecord> {
    const settings = this.#with(options);
    return retry(async () => recordIn(await this.#api.request('GET', pathOf('/files', id), settings)), settings);
  }

  /** Deletes a file. Its link stops working within a minute. */
  async delete(id: string, options: RetryOptions = {}): Promise<void> {
    await this.#call('DELETE', pathOf('/files', id), { ...options, doneStatus: 404 });
  }

  /** Cancels a ticket, or a direct upload that failed (`uploadId` of its error). If the upload has become a file meanwhile, the file is deleted. */
  async cancel(uploadId: string, options: RetryOptions = {}): Promise<void> {
    // After the first request the upload cannot become a file any more, so the second finds the file if there is one.
    for (const collection of ['/uploads', '/files']) {
      await this.#call('DELETE', pathOf(collection, uploadId), options).catch((error: unknown) => {
        if ((error as FileHostingError).code !== 'not_found') throw error;
      });
    }
  }

  /** What the account uses, and what it may use. */
  usage(options: RetryOptions = {}): Promise<Usage> {
    return this.#call('GET', '/usage', options);
  }

  /** The person who is logged in. Needs a session. */
  me(options: RetryOptions = {}): Promise<Profile> {
    return this.#callBySession('GET', '/auth/me', options);
  }

  /** Ends the session. */
  async logout(options: RetryOptions = {}): Promise<void> {
    await this.#callBySession('POST', '/auth/logout', { ...options, doneStatus: 401 });
  }

  /** Ends every session of the account, also this one. */
  async endSessions(options: RetryOptions = {}): Promise<void> {
    await this.#callBySession('DELETE', '/auth/sessions', { ...options, doneStatus: 401 });
  }

  /** The sessions of the account: browsers that are logged in. Needs a session. */
  readonly sessions = {
    list: async (options: RetryOptions = {}): Promise<readonly Session[]> =>
      (await this.#callBySession<Sessions>('GET', '/auth/sessions', options)).items,

    /** Ends a session, which is refused from the next request on. A session that ends itself is logged out. */
    end: async (id: string, options: RetryOptions = {}): Promise<void> => {
      await this.#callBySession('DELETE', pathOf('/auth/sessions', id), { ...options, doneStatus: 404 });
    },
  };

  /** The API keys of the account. Needs a session. */
  readonly keys = {
    list: async (options: RetryOptions = {}): Promise<readonly ApiKey[]> =>
      (await this.#callBySession<ApiKeys>('GET', '/api-keys', options)).items,

    /** Creates a key, which is shown once. The request is not repeated when its answer is lost, because that would make a second key. */
    create: (name: string, options: Omit<RetryOptions, 'retries'> = {}): Promise<ApiKeyWithSecret> =>
      this.#callBySession('POST', '/api-keys', {
        ...options,
        json: { name },
        canRepeat: ({ code }) => code === 'rate_limit_exceeded' && this.#retries !== 0,
      }),

    /** Revokes a key, which is refused from the next request on. */
    revoke: async (id: string, options: RetryOptions = {}): Promise<void> => {
      await this.#callBySession('DELETE', pathOf('/api-keys', id), { ...options, doneStatus: 404 });
    },
  };

  /** Calls a route that takes only a session. If a key was sent, the error says that a session is needed. */
  async #callBySession<Body>(method: Method, path: string, options: CallOptions): Promise<Body> {
    try {
      return await this.#call<Body>(method, path, options);
    } catch (error) {
      if (!(this.#hasKey && error instanceof FileHostingError && error.code === 'unauthorized')) throw error;
      const { status, requestId } = error;
      throw new FileHostingError('unauthorized', {
        status,
        requestId,
        what: 'This needs a session, which an API key is not',
        advice: 'Log in with a browser. A key uploads, lists, reads and deletes files, and nothing else.',
      });
    }
  }

  #call<Body>(method: Method, path: string, options: CallOptions): Promise<Body> {
    return this.#api.call(method, path, this.#with(options));
  }

  #with<Options extends RetryOptions>(options: Options): Options {
    return { ...options, retries: options.retries ?? this.#retries };
  }
}

function addressOf(url = globalThis.location?.origin): string {
  if (!url) throw invalid('The address of the service is missing: give `url`, or set FILE_HOSTING_URL');
  // The message does not repeat the address, because it may have a password.
  const { username, password, origin, pathname } = URL.canParse(url) ? new URL(url) : ({} as Partial<URL>);
  if (username || password) throw invalid('The address of the service must not have a user name or password');
  if (!/^https?:\/\//.test(url) || !pathname) throw invalid(`${url} is not the address of a service`);
  return `${origin}${pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1`;
}

function variable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

function pathOf(collection: string, id: string): string {
  if (!id) throw invalid('The id is missing');
  return `${collection}/${encodeURIComponent(id)}`;
}
