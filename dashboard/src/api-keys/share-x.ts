/**
 * A custom uploader of ShareX that puts the link on the clipboard, and shows the error's code when there is none. It has a
 * name by the key, since ShareX shows one of two that are called alike.
 * @param uploadUrl  of `POST /files`.
 * @returns the text of a `.sxcu` file; it holds the key.
 * Source: ShareX, "Custom uploader" (`{json:…}` reads the answer, since version 15).
 */
export function shareXConfig(uploadUrl: string, key: string): string {
  const config = {
    Version: '15.0.0',
    Name: `${new URL(uploadUrl).host} ${key.slice(0, 12)}`,
    DestinationType: 'ImageUploader, TextUploader, FileUploader',
    RequestMethod: 'POST',
    RequestURL: uploadUrl,
    Headers: { Authorization: `Bearer ${key}` },
    Body: 'MultipartFormData',
    FileFormName: 'file',
    URL: '{json:url}',
    ErrorMessage: '{json:error}',
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

export function shareXFileName(host: string): string {
  return `${host}.sxcu`;
}
