import * as FilePond from 'filepond';

/** FilePond, which deletes a file again when a person removes it from the list. */
export const pond = FilePond.create(document.querySelector('#filepond'), {
  name: 'file',
  server: {
    process: {
      url: '/files',
      onload(answer) {
        const { id, name, url } = JSON.parse(answer);
        console.log(`${name}: ${url}`);
        return id;
      },
      onerror: (answer) => JSON.parse(answer).error,
    },
    revert: (id, onDone, onError) =>
      fetch(`/files/${id}`, { method: 'DELETE' }).then(({ ok }) => (ok ? onDone() : onError('not deleted'))),
  },
});
