import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A CloudFormation template as `cdk synth` writes it. */
export interface Template {
  readonly Parameters?: Record<string, TemplateParameter>;
  readonly Resources: Record<string, TemplateResource>;
  readonly Outputs?: Record<string, TemplateOutput>;
}

interface TemplateParameter {
  readonly Type: string;
  readonly Default?: unknown;
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
}

/** A file or directory that a deployment would copy into a bucket. */
export interface Asset {
  /** May contain `${AWS::AccountId}` and `${AWS::Region}`. */
  readonly bucket: string;
  readonly key: string;
  /** An absolute path. It is the path of a directory if a deployment would zip the asset. */
  readonly path: string;
}

/** The output of `cdk synth`: the templates of the stacks and the files that they refer to. */
export interface Assembly {
  /** The templates by stack name, in the order in which they would be deployed. */
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
 * @param directory  the absolute path that `cdk synth` wrote to.
 * @param edit  changes the templates in memory before they are used, so that a test can remove a grant, for example.
 * @throws Error when the directory has no assembly.
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
