import Dropzone from 'dropzone';

/** Dropzone. `maxFilesize` is the default limit of the service (100 MiB), so that a larger file is refused before it is sent. */
export const dropzone = new Dropzone('#dropzone', {
  url: '/files',
  paramName: 'file',
  maxFilesize: 100,
  filesizeBase: 1024,
  parallelUploads: 3,
});

dropzone.on('success', (file, { url }) => console.log(`${file.name}: ${url}`));
