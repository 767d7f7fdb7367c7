import type { SecretValue } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import { GATEWAY_STAGE } from './gateway-stage.ts';

/**
 * The API key that every method of the gateway requires. Only CloudFront sends it. So a request that bypasses CloudFront is rejected before
 * a function runs, and API Gateway does not charge for it. The key is in the distribution's stack: when its value changes, CloudFormation
 * creates a new key, waits until the distribution sends it everywhere, and then deletes the old one.
 */
export class GatewayKey extends Construct {
  /** The value of the header `x-api-key`. */
  readonly value: string;

  /** @param value  20 to 128 letters and digits; the template has a reference to it, not the value. */
  constructor(scope: Construct, id: string, { apiId, value }: { apiId: string; value: SecretValue }) {
    super(scope, id);
    this.value = value.unsafeUnwrap();
    const key = new apigateway.ApiKey(this, 'Key', {
      value: this.value,
      description: 'Sent by CloudFront with every request',
    });
    // The plan has no limits of its own: the gateway's stage limits all clients together, and the functions limit each account.
    const plan = new apigateway.CfnUsagePlan(this, 'Plan', { apiStages: [{ apiId, stage: GATEWAY_STAGE }] });
    new apigateway.CfnUsagePlanKey(this, 'PlanKey', { keyId: key.keyId, keyType: 'API_KEY', usagePlanId: plan.ref });
  }
}
