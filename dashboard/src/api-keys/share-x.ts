/**
 * Makes a custom uploader for ShareX, which copies the link to the clipboard, or shows the error's code. Its name contains
 * the start of the key, since ShareX shows only one of two uploaders with the same name.
 * @param uploadUrl  the URL of `POST /files`.
 * @returns the text of a `.sxcu` file, which contains the key.
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
