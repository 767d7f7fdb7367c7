import Dropzone from 'dropzone';

/** Dropzone. Its limits are those of the service, so that a person hears of them before the upload. */
export const dropzone = new Dropzone('#dropzone', {
  url: '/files',
  paramName: 'file',
  maxFilesize: 100,
  filesizeBase: 1024,
  parallelUploads: 3,
});

dropzone.on('success', (file, { url }) => console.log(`${file.name}: ${url}`));
