import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A CloudFormation template as `cdk synth` writes it. */
export interface Template {
  readonly Resources: Record<string, TemplateResource>;
  readonly Outputs?: Record<string, TemplateOutput>;
  readonly Conditions?: Record<string, unknown>;
}

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Record<string, unknown>;
  readonly Metadata?: Record<string, unknown>;
  readonly Condition?: string;
  readonly DeletionPolicy?: string;
  readonly DependsOn?: readonly string[];
}

interface TemplateOutput {
  readonly Value: unknown;
  readonly Condition?: string;
  readonly Export?: { readonly Name: unknown };
}

/** A file or directory that a deployment would copy into a bucket before the stacks refer to it. */
export interface Asset {
  /** May hold `${AWS::AccountId}` and `${AWS::Region}`. */
  readonly bucket: string;
  readonly key: string;
  /** Absolute; a directory when the asset would be zipped. */
  readonly path: string;
}

/** What `cdk synth` produced: the stacks' templates and the files they refer to. */
export interface Assembly {
  /** By stack name, in the order in which they would be deployed. */
  readonly templates: Readonly<Record<string, Template>>;
  readonly assets: readonly Asset[];
}

interface Manifest {
  readonly artifacts: Readonly<
    Record<
      string,
      { readonly type: string; readonly properties?: { templateFile?: string; stackName?: string; file?: string } }
    >
  >;
}

interface AssetManifest {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly source: { readonly path: string };
        readonly destinations: Readonly<Record<string, { readonly bucketName: string; readonly objectKey: string }>>;
      }
    >
  >;
}

/**
 * Reads a cloud assembly.
 * @param directory  where `cdk synth` wrote, absolute.
 * @param edit  changes the templates in memory before anything is made of them, so that a test can take out a grant.
 * @throws Error when the directory holds no assembly.
 */
export async function loadAssembly(
  directory: string,
  edit: (templates: Record<string, Template>) => void = () => {},
): Promise<Assembly> {
  const read = async <T>(file: string): Promise<T> => JSON.parse(await readFile(join(directory, file), 'utf8')) as T;
  const templates: Record<string, Template> = {};
  const assets: Asset[] = [];
  const { artifacts } = await read<Manifest>('manifest.json');
  for (const [id, { type, properties = {} }] of Object.entries(artifacts)) {
    if (type === 'aws:cloudformation:stack' && properties.templateFile !== undefined) {
      templates[properties.stackName ?? id] = await read<Template>(properties.templateFile);
    }
    if (type === 'cdk:asset-manifest' && properties.file !== undefined) {
      assets.push(...assetsOf(directory, await read<AssetManifest>(properties.file)));
    }
  }
  edit(templates);
  return { templates, assets };
}

function assetsOf(directory: string, { files }: AssetManifest): Asset[] {
  return Object.values(files).flatMap(({ source, destinations }) =>
    Object.values(destinations).map(({ bucketName, objectKey }) => ({
      bucket: bucketName,
      key: objectKey,
      path: join(directory, source.path),
    })),
  );
}
