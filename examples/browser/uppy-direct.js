import AwsS3 from '@uppy/aws-s3';
import Uppy from '@uppy/core';
import Dashboard from '@uppy/dashboard';

/** Uppy with direct uploads: the bytes go straight to the storage, not through your server. For large files and slow networks. */
export const uppy = new Uppy().use(Dashboard, { inline: true, target: '#uppy-direct' }).use(AwsS3, {
  shouldUseMultipart: false,
  // `signRequest` gets this key, and finds the file by it.
  generateObjectKey: (file) => file.id,
  async signRequest({ key }) {
    const { name, type, size } = uppy.getFile(key);
    const ticket = await post('/uploads', { name, mime_type: type || 'application/octet-stream', size_bytes: size });
    uppy.setFileMeta(key, { ticket: ticket.id });
    return { url: ticket.upload.url, headers: ticket.upload.headers };
  },
});

uppy.on('upload-success', async (file) => {
  const { name, url } = await post(`/uploads/${uppy.getFile(file.id).meta.ticket}/complete`);
  console.log(`${name}: ${url}`);
});

async function post(path, json) {
  const body = json && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) };
  const answer = await fetch(path, { method: 'POST', ...body });
  const record = await answer.json();
  if (!answer.ok) throw new Error(record.error);
  return record;
}
