import type { CodeSample, Sample } from './operation.ts';
import type { RouteContract } from './route.ts';

/** The samples of a route, in the order in which they are shown. */
export function samplesOf(route: RouteContract): readonly CodeSample[] {
  const { sample } = route.operation;
  if (sample === 'none') return [];
  const { whole = [], client } = sample;
  return [
    { lang: 'Shell', label: 'curl', source: curl(route, sample) },
    ...whole,
    ...(client ? [{ lang: 'TypeScript', label: 'TypeScript', source: typescript(route, client) } as const] : []),
    { lang: 'Python', label: 'Python', source: python(route, sample) },
    { lang: 'Go', label: 'Go', source: go(route, sample) },
  ];
}

const KEY_HEADER = '-H "Authorization: Bearer $FILE_HOSTING_KEY"';
// Requests that change something must name their origin, as browsers do by themselves.
const SESSION_HEADERS = '-H "Cookie: $FILE_HOSTING_COOKIE" -H "Origin: $FILE_HOSTING_URL"';

/** Prints the answer and curl's own errors, and fails when the answer is an error. */
const CURL = 'curl -sS --fail-with-body';

function curl({ method, path, access }: RouteContract, { query, json, file }: Sample): string {
  const parts = [CURL];
  if (method !== 'GET' && file === undefined && json === undefined) parts.push(`-X ${method}`);
  if (file !== undefined) parts.push(`-F file=@${file}`);
  if (json !== undefined) parts.push(`--json '${json}'`);
  if (access === 'session') parts.push(SESSION_HEADERS);
  if (access === 'key-or-session') parts.push(KEY_HEADER);
  parts.push(`"$FILE_HOSTING_URL${path.replace('{id}', '$ID')}${query ? `?${query}` : ''}"`);
  return parts.join(' ');
}

/** Ends a program in Python with the error of the service. `raise_for_status` would not show the code. */
const PYTHON_CHECK = `if not answer.ok:
    raise SystemExit(answer.text)`;

/** An upload that goes on through limits and failures, and makes one file. */
export const REPEATED_UPLOADS: readonly CodeSample[] = [
  {
    lang: 'Python',
    label: 'Python, repeated until it succeeds',
    source: `from os import environ
from uuid import uuid4

import requests
from requests.adapters import HTTPAdapter, Retry

session = requests.Session()
# It waits as long as Retry-After says, and twice as long each time without it.
retries = Retry(5, backoff_factor=1, status_forcelist=[429, 500, 502, 503, 504], allowed_methods=None, raise_on_status=False)
session.mount(environ["FILE_HOSTING_URL"], HTTPAdapter(max_retries=retries))
answer = session.post(
    environ["FILE_HOSTING_URL"] + "/api/v1/files",
    # The requests of one upload have one key, so they make one file.
    headers={"Authorization": "Bearer " + environ["FILE_HOSTING_KEY"], "Idempotency-Key": str(uuid4())},
    files={"file": open("photo.jpg", "rb")},
    timeout=60,
)
${PYTHON_CHECK}
print(answer.text)`,
  },
];

/** A whole direct upload. */
export const DIRECT_UPLOADS: readonly CodeSample[] = [
  {
    lang: 'Shell',
    label: 'curl, the whole upload',
    // An error is printed by each step. The type in the headers may differ from the one that was asked for.
    source: `SIZE=$(wc -c < film.mp4 | tr -d ' ')
TICKET=$(${CURL} ${KEY_HEADER} --json '{"name": "film.mp4", "mime_type": "video/mp4", "size_bytes": '$SIZE'}' "$FILE_HOSTING_URL/api/v1/uploads") || { echo "$TICKET"; false; }
# The headers of this request are those in the ticket. The URL is signed: the key must not be sent to it.
echo "$TICKET" | jq -r '.upload.headers | to_entries[] | "header = \\"\\(.key): \\(.value)\\""' |
  ${CURL} -K - -T film.mp4 "$(echo "$TICKET" | jq -r .upload.url)"
${CURL} -X POST ${KEY_HEADER} "$FILE_HOSTING_URL/api/v1/uploads/$(echo "$TICKET" | jq -r .id)/complete"`,
  },
  {
    lang: 'Python',
    label: 'Python, the whole upload',
    source: `from os import environ, path

import requests

uploads = environ["FILE_HOSTING_URL"] + "/api/v1/uploads"
key = {"Authorization": "Bearer " + environ["FILE_HOSTING_KEY"]}
film = {"name": "film.mp4", "mime_type": "video/mp4", "size_bytes": path.getsize("film.mp4")}
answer = requests.post(uploads, headers=key, json=film, timeout=60)
${PYTHON_CHECK}
ticket = answer.json()
upload = ticket["upload"]
with open("film.mp4", "rb") as content:
    # The URL is signed: the key must not be sent to it. For an empty file, requests states a length only of bytes.
    body = content if film["size_bytes"] > 0 else b""
    answer = requests.request(upload["method"], upload["url"], headers=upload["headers"], data=body, timeout=60)
${PYTHON_CHECK}
answer = requests.post(uploads + "/" + ticket["id"] + "/complete", headers=key, timeout=60)
${PYTHON_CHECK}
print(answer.text)`,
  },
  {
    lang: 'Go',
    label: 'Go, the whole upload',
    source: `package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

type Ticket struct {
	ID     string \`json:"id"\`
	Upload struct {
		Method  string            \`json:"method"\`
		URL     string            \`json:"url"\`
		Headers map[string]string \`json:"headers"\`
	} \`json:"upload"\`
}

func main() {
	film, err := os.Open("film.mp4")
	if err != nil {
		log.Fatal(err)
	}
	info, err := film.Stat()
	if err != nil {
		log.Fatal(err)
	}
	uploads := os.Getenv("FILE_HOSTING_URL") + "/api/v1/uploads"
	key := map[string]string{"Authorization": "Bearer " + os.Getenv("FILE_HOSTING_KEY"), "Content-Type": "application/json"}
	asked := fmt.Sprintf(\`{"name": "film.mp4", "mime_type": "video/mp4", "size_bytes": %d}\`, info.Size())
	var ticket Ticket
	if err := json.Unmarshal(send("POST", uploads, key, strings.NewReader(asked), int64(len(asked))), &ticket); err != nil {
		log.Fatal(err)
	}
	upload := ticket.Upload
	// The URL is signed: the key must not be sent to it.
	send(upload.Method, upload.URL, upload.Headers, film, info.Size())
	fmt.Println(string(send("POST", uploads+"/"+ticket.ID+"/complete", key, nil, 0)))
}

func send(method, url string, headers map[string]string, body io.Reader, size int64) []byte {
	if size == 0 {
		body = http.NoBody
	}
	request, err := http.NewRequest(method, url, body)
	if err != nil {
		log.Fatal(err)
	}
	// Without a length, Go sends a file in chunks, which the storage refuses.
	request.ContentLength = size
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode >= 400 {
		log.Fatalf("%s: %s", answer.Status, text)
	}
	return text
}`,
  },
];

/**
 * Routes that take only a session, such as those for API keys, are meant for the pages of the service itself. The samples of these routes
 * say so.
 */
function typescript({ access }: RouteContract, client: string): string {
  return [
    "import { FileHosting } from 'file-hosting-client';",
    '',
    ...(access === 'session' ? ['// In a page of the service, with the session of the person who is logged in.'] : []),
    'const hosting = new FileHosting();',
    client,
  ].join('\n');
}

function python({ method, path, access }: RouteContract, { query, json, file }: Sample): string {
  const address = `environ["FILE_HOSTING_URL"] + "${path.replace('{id}', '" + environ["ID"] + "').replace(/ \+ ""$/, '')}"`;
  const headers = {
    public: [],
    'key-or-session': ['    headers={"Authorization": "Bearer " + environ["FILE_HOSTING_KEY"]},'],
    session: ['    headers={"Cookie": environ["FILE_HOSTING_COOKIE"], "Origin": environ["FILE_HOSTING_URL"]},'],
  }[access];
  const parameters = [...new URLSearchParams(query)].map(([name, value]) => `"${name}": "${value}"`);
  return [
    'from os import environ',
    '',
    'import requests',
    '',
    `answer = requests.${method.toLowerCase()}(`,
    `    ${address.replace(/ \+ ""$/, '')},`,
    ...headers,
    ...(parameters.length > 0 ? [`    params={${parameters.join(', ')}},`] : []),
    ...(json === undefined ? [] : [`    json=${json},`]),
    ...(file === undefined ? [] : [`    files={"file": open("${file}", "rb")},`]),
    '    timeout=60,',
    ')',
    PYTHON_CHECK,
    'print(answer.text)',
  ].join('\n');
}

function go({ method, path, access }: RouteContract, { query, json, file }: Sample): string {
  const address = `os.Getenv("FILE_HOSTING_URL")+"${path.replace('{id}', '"+os.Getenv("ID")+"')}${query ? `?${query}` : ''}"`;
  const body = file === undefined ? (json === undefined ? 'nil' : `strings.NewReader(\`${json}\`)`) : '&form';
  const packages = [
    ...(file === undefined ? [] : ['bytes']),
    'fmt',
    'io',
    'log',
    ...(file === undefined ? [] : ['mime/multipart']),
    'net/http',
    'os',
    ...(json === undefined ? [] : ['strings']),
  ];
  const headers: string[][] = [
    ...(file === undefined ? [] : [['Content-Type', 'writer.FormDataContentType()']]),
    ...(json === undefined ? [] : [['Content-Type', '"application/json"']]),
    ...(access === 'key-or-session' ? [['Authorization', '"Bearer "+os.Getenv("FILE_HOSTING_KEY")']] : []),
    ...(access === 'session'
      ? [
          ['Cookie', 'os.Getenv("FILE_HOSTING_COOKIE")'],
          ['Origin', 'os.Getenv("FILE_HOSTING_URL")'],
        ]
      : []),
  ];
  return [
    'package main',
    '',
    'import (',
    ...packages.map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    ...(file === undefined ? [] : goForm(file)),
    `\trequest, err := http.NewRequest("${method}", ${address.replace(/\+""$/, '')}, ${body})`,
    ...GO_CHECK,
    ...headers.map(([name, value]) => `\trequest.Header.Set("${name}", ${value})`),
    '\tanswer, err := http.DefaultClient.Do(request)',
    ...GO_CHECK,
    '\tdefer answer.Body.Close()',
    '\ttext, err := io.ReadAll(answer.Body)',
    ...GO_CHECK,
    '\tif answer.StatusCode >= 400 {',
    '\t\tlog.Fatalf("%s: %s", answer.Status, text)',
    '\t}',
    '\tfmt.Println(string(text))',
    '}',
  ].join('\n');
}

const GO_CHECK = ['\tif err != nil {', '\t\tlog.Fatal(err)', '\t}'];

function goForm(file: string): string[] {
  return [
    `\tcontent, err := os.ReadFile("${file}")`,
    ...GO_CHECK,
    '\tvar form bytes.Buffer',
    '\twriter := multipart.NewWriter(&form)',
    `\tpart, err := writer.CreateFormFile("file", "${file}")`,
    ...GO_CHECK,
    '\tpart.Write(content)',
    '\twriter.Close()',
  ];
}
