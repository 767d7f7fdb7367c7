// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are CloudFormation's
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadAssembly, type Template } from '../../local-aws/template/assembly.ts';
import { type Deployment, resolveDeployment } from '../../local-aws/template/deployment.ts';

export const ACCOUNT = { accountId: '111122223333', region: 'eu-west-1' };

/** The resources of a template, by logical id. */
type Resources = Template['Resources'];

const ASSET_BUCKET = 'assets-${AWS::AccountId}-${AWS::Region}';

/**
 * Writes a cloud assembly as `cdk synth` does.
 * @param stacks  templates by stack name.
 * @param assets  by name: the files of the asset, by path.
 * @returns its directory.
 */
export async function writeAssembly(
  stacks: Readonly<Record<string, Partial<Template>>>,
  assets: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'assembly-'));
  const artifacts: Record<string, object> = {
    assets: { type: 'cdk:asset-manifest', properties: { file: 'assets.json' } },
    tree: { type: 'cdk:tree', properties: { file: 'tree.json' } },
  };
  for (const [name, template] of Object.entries(stacks)) {
    artifacts[name] = { type: 'aws:cloudformation:stack', properties: { templateFile: `${name}.json` } };
    await writeFile(join(directory, `${name}.json`), JSON.stringify({ Resources: {}, ...template }));
  }
  const files: Record<string, object> = {};
  for (const [name, contents] of Object.entries(assets)) {
    for (const [file, text] of Object.entries(contents)) {
      await mkdir(dirname(join(directory, name, file)), { recursive: true });
      await writeFile(join(directory, name, file), text);
    }
    const destinations = { here: { bucketName: ASSET_BUCKET, objectKey: `${name}.zip` } };
    files[name] = { source: { path: name, packaging: 'zip' }, destinations };
  }
  await writeFile(join(directory, 'assets.json'), JSON.stringify({ files }));
  await writeFile(join(directory, 'manifest.json'), JSON.stringify({ artifacts }));
  return directory;
}

/** Deploys one stack, called `Stack`. */
export async function deploy(
  resources: Resources,
  assets: Parameters<typeof writeAssembly>[1] = {},
): Promise<Deployment> {
  const assembly = await loadAssembly(await writeAssembly({ Stack: { Resources: resources } }, assets));
  return resolveDeployment({ assembly, account: ACCOUNT, secretValue: () => '', addresses: new Map() });
}

/** An `AWS::Lambda::Function` whose code is the asset of that name. */
export function lambdaFunction(asset: string, properties: Readonly<Record<string, unknown>> = {}): Resources[string] {
  return {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Code: { S3Bucket: { 'Fn::Sub': ASSET_BUCKET }, S3Key: `${asset}.zip` },
      Handler: 'index.handler',
      Role: 'arn:aws:iam::111122223333:role/role',
      Runtime: 'nodejs24.x',
      ...properties,
    },
  };
}
