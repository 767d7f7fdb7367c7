/** The credential of a test's requests. */
export interface Credential {
  readonly key?: string;
  /** The value of a `Cookie` header. */
  readonly cookie?: string;
}

export interface Answer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** A client of the API that sends HTTP requests through the "app" distribution, as programs do. */
export interface Client {
  request<Body = Record<string, unknown>>(method: string, path: string, init?: RequestInit): Promise<Answer<Body>>;
  /** Uploads one file as a multipart form, as browsers do. */
  upload(
    name: string,
    content: string | Uint8Array<ArrayBuffer>,
    init?: { type?: string; headers?: Record<string, string> },
  ): Promise<Answer>;
  postJson<Body = Record<string, unknown>>(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<Body>>;
}

/** Makes a client of `baseUrl` (which ends in `/api/v1`). With a cookie it sends the app's `Origin`, as the dashboard does. */
export function client(baseUrl: string, credential: Credential = {}): Client {
  const { origin } = new URL(baseUrl);
  const credentials: Record<string, string> = {
    ...(credential.key !== undefined && { authorization: `Bearer ${credential.key}` }),
    ...(credential.cookie !== undefined && { cookie: credential.cookie, origin }),
  };

  const self: Client = {
    async request<Body>(method: string, path: string, init: RequestInit = {}) {
      const headers = new Headers({ ...credentials, ...(init.headers as Record<string, string>) });
      const response = await fetch(`${baseUrl}${path}`, { redirect: 'manual', ...init, method, headers });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: parse(text) as Body };
    },
    upload(name, content, { type = 'application/octet-stream', headers = {} } = {}) {
      const body = new FormData();
      body.append('file', new File([content], name, { type }));
      return self.request('POST', '/files', { body, headers });
    },
    postJson(path, body, headers = {}) {
      const all = { 'content-type': 'application/json', ...headers };
      return self.request('POST', path, { body: JSON.stringify(body), headers: all });
    },
  };
  return self;
}

/** Keeps a body that is not JSON as text. A test that expects JSON then fails with the text in its message. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
