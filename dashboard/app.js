/** The dashboard: whatever it does, a program can do, through the same public API. */
const api = '/api/v1';
const $ = (id) => document.getElementById(id);

/** Error codes of the API in words. */
const WORDS = {
  unauthorized: 'Please log in.',
  storage_limit_exceeded: 'This file does not fit in your storage.',
  file_too_large: 'This file is too large.',
  rate_limit_exceeded: 'Too many requests; try again in a minute.',
  api_key_limit_exceeded: 'You have as many keys as an account may have.',
  access_denied: 'The login was cancelled.',
  email_not_verified: 'Your e-mail address is not verified with Google.',
  not_allowed: 'This account may not log in here.',
  expired: 'The login took too long; please try again.',
  unavailable: 'The login is not available now; please try again later.',
};

async function call(path, init) {
  const response = await fetch(api + path, init);
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error ?? `HTTP ${response.status}`);
  return body;
}

function say(text) {
  $('message').textContent = text;
}

/** Runs what a click asked for, and says in words what went wrong. */
function attempt(action) {
  return async (event) => {
    event?.preventDefault();
    say('');
    try {
      await action(event);
    } catch (error) {
      say(WORDS[error.message] ?? `That did not work (${error.message}).`);
    }
  };
}

function element(tag, properties, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

const size = (bytes) =>
  bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
      ? `${(bytes / 1024).toFixed(1)} KiB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;

async function show() {
  const me = await call('/auth/me').catch((error) => {
    if (error.message !== 'unauthorized') throw error;
  });
  $('login').hidden = Boolean(me);
  $('home').hidden = !me;
  if (!me) return;
  $('who').textContent = me.email;
  $('storage').textContent =
    `${size(me.storage_used_bytes)} of ${size(me.storage_limit_bytes)} used, ${me.file_count} files`;
  const [files, keys] = await Promise.all([call('/files'), call('/api-keys')]);
  $('files').replaceChildren(...files.items.map(fileRow));
  $('keys').replaceChildren(...keys.items.map(keyRow));
}

function fileRow({ id, name, url, size_bytes }) {
  const remove = element('button', { type: 'button', textContent: 'Delete', ariaLabel: `Delete ${name}` });
  remove.onclick = attempt(async () => {
    await call(`/files/${id}`, { method: 'DELETE' });
    await show();
  });
  return element(
    'li',
    {},
    element('a', { href: url, textContent: name }),
    element('span', { textContent: size(size_bytes) }),
    remove,
  );
}

function keyRow({ id, name, key_prefix, last_used_at }) {
  const revoke = element('button', { type: 'button', textContent: 'Revoke', ariaLabel: `Revoke ${name}` });
  revoke.onclick = attempt(async () => {
    await call(`/api-keys/${id}`, { method: 'DELETE' });
    await show();
  });
  const used = last_used_at ? `last used ${new Date(last_used_at).toLocaleString()}` : 'never used';
  return element(
    'li',
    {},
    element('b', { textContent: name }),
    element('code', { textContent: `${key_prefix}…` }),
    element('span', { textContent: used }),
    revoke,
  );
}

$('file').onchange = attempt(async () => {
  const [file] = $('file').files;
  if (!file) return;
  say(`Uploading ${file.name} …`);
  const form = new FormData();
  form.append('file', file);
  await call('/files', { method: 'POST', body: form });
  $('file').value = '';
  say(`${file.name} is stored.`);
  await show();
});

$('new-key').onsubmit = attempt(async ({ target }) => {
  const name = new FormData(target).get('name');
  const { key } = await call('/api-keys', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  target.reset();
  $('made').hidden = false;
  $('made').textContent =
    `Copy this key now; it is shown once:\n\n${key}\n\ncurl -F file=@photo.jpg -H "Authorization: Bearer ${key}" ${location.origin}${api}/files`;
  await show();
});

$('logout').onclick = attempt(async () => {
  await call('/auth/logout', { method: 'POST' });
  location.assign('/dashboard/login');
});

await attempt(show)();
const failure = new URLSearchParams(location.search).get('error');
if (failure) say(WORDS[failure] ?? 'The login did not work; please try again.');
