import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { DeleteObjectCommand, PutObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { credentialsOf } from '../aws-front/principals.ts';
import type { Deployment, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';

/** The files of an asset. */
interface Source {
  readonly directory: string;
  /** What the files have in place of values that only the deployment knows, and these values. */
  readonly markers: Readonly<Record<string, string>>;
}

interface FilesDeployment {
  readonly sources: readonly Source[];
  readonly bucket: string;
  /** The beginning of the keys: empty, or a text that ends in a slash. */
  readonly prefix: string;
  readonly cacheControl?: string;
  /** The type of every file; without it, the extension gives the type. */
  readonly contentType?: string;
  /** Whether other objects with the prefix are deleted. */
  readonly isPruning: boolean;
}

/** Content types by extension. Other files are `application/octet-stream`. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/**
 * Does what the custom resource of CDK's `BucketDeployment` does at a deployment: it puts the files of its assets into a bucket,
 * with the permissions of the function behind it.
 * @param endpoint  that of the AWS front.
 */
export async function deployFiles(deployment: Deployment, endpoint: string): Promise<void> {
  const resources = deployment.resources('Custom::CDKBucketDeployment');
  await Promise.all(
    resources.map(async (resource) => {
      const client = new S3Client({
        endpoint,
        region: deployment.account.region,
        credentials: credentialsOf(String(resource.properties().ServiceToken).split(':').at(-1) ?? ''),
      });
      const files = readFilesDeployment(resource, deployment);
      await deploy(client, files, deployment).finally(() => client.destroy());
    }),
  );
}

function readFilesDeployment(resource: Resource, deployment: Deployment): FilesDeployment {
  return readProperties(
    resource.logicalId,
    resource.properties(),
    (take) => {
      const keys = take<string[]>('SourceObjectKeys');
      const markers = take<Record<string, string>[]>('SourceMarkers', []);
      const encodings = take<object[]>('SourceMarkersConfig', []);
      if (markers.some((marker, index) => hasEntries(marker) && hasEntries(encodings[index] ?? {}))) {
        throw new Error(`${resource.logicalId}: the local AWS fills in values only as they are`);
      }
      const metadata = take<Record<string, string>>('SystemMetadata', {});
      const { 'cache-control': cacheControl, 'content-type': contentType } = metadata;
      const prefix = take<string>('DestinationBucketKeyPrefix', '').replace(/\/?$/, '/');
      return {
        sources: take<string[]>('SourceBucketNames').map((bucket, index) => ({
          directory: deployment.assetPath(bucket, keys[index] ?? ''),
          markers: markers[index] ?? {},
        })),
        bucket: take<string>('DestinationBucketName'),
        prefix: prefix === '/' ? '' : prefix,
        isPruning: take<boolean>('Prune', true),
        ...(cacheControl !== undefined && { cacheControl }),
        ...(contentType !== undefined && { contentType }),
      };
    },
    // There is no cache to invalidate before the distributions have started, and no stack is deleted.
    ['OutputObjectKeys', 'RetainOnDelete', 'ServiceToken', 'WaitForDistributionInvalidation'],
  );
}

const hasEntries = (record: object) => Object.keys(record).length > 0;

/** Puts new files first, so that a start that dies in between removes nothing. */
async function deploy(client: S3Client, files: FilesDeployment, { localized }: Deployment): Promise<void> {
  const { bucket: Bucket, prefix, cacheControl, contentType } = files;
  const kept = new Set<string>();
  for (const { directory, markers } of files.sources) {
    for (const path of await filesIn(directory)) {
      const Key = prefix + relative(directory, path).split(sep).join('/');
      kept.add(Key);
      await client.send(
        new PutObjectCommand({
          Bucket,
          Key,
          Body: hasEntries(markers) ? localized(filled(await readFile(path, 'utf8'), markers)) : await readFile(path),
          ContentType: contentType ?? CONTENT_TYPES[extname(path)] ?? 'application/octet-stream',
          CacheControl: cacheControl,
        }),
      );
    }
  }
  if (!files.isPruning) return;
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix: prefix })) {
    const stale = Contents.flatMap(({ Key }) => (Key !== undefined && !kept.has(Key) ? [Key] : []));
    for (const Key of stale) await client.send(new DeleteObjectCommand({ Bucket, Key }));
  }
}

function filled(text: string, markers: Source['markers']): string {
  return Object.entries(markers).reduce((filled, [marker, value]) => filled.replaceAll(marker, () => value), text);
}

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
