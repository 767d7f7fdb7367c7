import * as s3 from 'aws-cdk-lib/aws-s3';

/** The properties of every bucket: only principals with a policy have access, through TLS, and S3 encrypts all objects. */
export const PRIVATE_BUCKET: s3.BucketProps = {
  blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
  encryption: s3.BucketEncryption.S3_MANAGED,
  enforceSSL: true,
  objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
};
