import Uppy from '@uppy/core';
import Dashboard from '@uppy/dashboard';
import XHRUpload from '@uppy/xhr-upload';

/** Uppy with forms: each file in one request, up to the largest file that the service takes. */
export const uppy = new Uppy()
  .use(Dashboard, { inline: true, target: '#uppy' })
  .use(XHRUpload, { endpoint: '/files', fieldName: 'file', limit: 3, allowedMetaFields: false });

uppy.on('upload-success', (file, { body }) => console.log(`${file.name}: ${body.url}`));
