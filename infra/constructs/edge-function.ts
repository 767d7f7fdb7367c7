import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { Construct } from 'constructs';
import { type EdgeFunctionFile, renderEdgeFunction } from '../edge/render.ts';

/** A CloudFront function from a file of `infra/edge/`, with its constants filled in. */
export class EdgeFunction extends Construct {
  readonly function: cloudfront.Function;

  constructor(
    scope: Construct,
    id: string,
    props: { file: EdgeFunctionFile; constants?: Record<string, number | boolean | string> },
  ) {
    super(scope, id);
    this.function = new cloudfront.Function(this, 'Function', {
      code: cloudfront.FunctionCode.fromInline(renderEdgeFunction(props.file, props.constants ?? {})),
      runtime: cloudfront.FunctionRuntime.JS_2_0,
    });
  }
}
