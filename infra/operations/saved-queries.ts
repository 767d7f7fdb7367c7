import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { SAVED_QUERIES, type SavedQuery } from '../settings/log-queries.ts';
import type { StageConfig } from '../settings/stage.ts';

/** Saves queries in CloudWatch, where the console lists them in a folder of the stage. Saved queries cost nothing. */
export function saveQueries(
  scope: Construct,
  stage: StageConfig,
  of: SavedQuery['of'],
  logGroupNames: readonly string[],
): void {
  for (const [name, query] of Object.entries<SavedQuery>(SAVED_QUERIES)) {
    if (query.of !== of) continue;
    const { parameter, text, meaning } = query;
    new logs.CfnQueryDefinition(scope, `Query-${name}`, {
      name: `FileHosting/${stage.name}/${name}`,
      logGroupNames: [...logGroupNames],
      queryString: text,
      ...(parameter && {
        parameters: [{ name: parameter.name, description: meaning, defaultValue: parameter.example }],
      }),
    });
  }
}
