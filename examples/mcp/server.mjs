import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { FileHosting } from 'file-hosting-client';
import { z } from 'zod';

const hosting = new FileHosting();
const path = z.string().describe('The path of a file on this machine');
const search = z.string().optional().describe('A part of the name');
const page = z.int().min(1).default(1);
const id = z.string().describe('The id of the file');

serveStdio(() => {
  const server = new McpServer({ name: 'file-hosting', version: '1.0.0' });
  const add = (name, description, input, answer) =>
    server.registerTool(name, { description, inputSchema: z.object(input) }, async (given) => ({
      content: [{ type: 'text', text: JSON.stringify(await answer(given)) }],
    }));
  add('upload_file', 'Publishes a file: everyone can open its link', { path }, (given) => hosting.upload(given.path));
  add('list_files', 'Lists files, newest first', { search, page }, (given) => hosting.list(given));
  add('delete_file', 'Deletes a file for good', { id }, (given) => hosting.delete(given.id).then(() => 'deleted'));
  return server;
});
