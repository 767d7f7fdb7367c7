import Uppy from '@uppy/core';
import Dashboard from '@uppy/dashboard';
import XHRUpload from '@uppy/xhr-upload';

/** Uppy with forms: each file in one request, up to the largest file that the service takes. Uppy repeats a failed request. */
export const uppy = new Uppy().use(Dashboard, { inline: true, target: '#uppy' }).use(XHRUpload, {
  endpoint: '/files',
  fieldName: 'file',
  limit: 3,
  allowedMetaFields: false,
  // All attempts to upload a file send one key, so they make one file, even if the answer to the first was lost.
  headers: ({ meta }) => ({ 'Idempotency-Key': meta.idempotencyKey }),
  shouldRetry: ({ status }) => status === 0 || status === 429 || status >= 500,
});

uppy.on('file-added', ({ id }) => uppy.setFileMeta(id, { idempotencyKey: crypto.randomUUID() }));
uppy.on('upload-success', (file, { body }) => console.log(`${file.name}: ${body.url}`));
