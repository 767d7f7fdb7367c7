/**
 * The part of the CloudFront Functions runtime that the service uses: the event that a `handler` gets, and the `cloudfront`
 * module. Source: CloudFront Developer Guide, "CloudFront Functions event structure" and "Helper methods for origin
 * modification".
 */
declare module 'cloudfront' {
  /** One header, cookie or query parameter; it has `multiValue` only when the name occurs more than once. */
  export interface Value {
    value: string;
    multiValue?: { value: string }[];
  }

  /** Like {@link Value}; `attributes` is what follows the first `;` of a `Set-Cookie`. */
  export interface SetCookie {
    value: string;
    attributes?: string;
    multiValue?: { value: string; attributes?: string }[];
  }

  export interface FunctionRequest {
    /** Read-only. */
    method: string;
    /** The path as the viewer sent it: still percent-encoded, without the query. */
    uri: string;
    querystring: Record<string, Value>;
    /** The headers by lower-case name; `Cookie` is in `cookies` instead. */
    headers: Record<string, Value>;
    cookies: Record<string, Value>;
  }

  export interface FunctionResponse {
    statusCode: number;
    statusDescription?: string;
    /** The headers by lower-case name; `Set-Cookie` is in `cookies` instead. */
    headers?: Record<string, Value>;
    cookies?: Record<string, SetCookie>;
    body?: string | { encoding: 'text' | 'base64'; data: string };
  }

  export interface ViewerRequestEvent {
    version: '1.0';
    context: { distributionDomainName: string; distributionId: string; eventType: string; requestId: string };
    viewer: { ip: string };
    request: FunctionRequest;
  }

  export interface ViewerResponseEvent extends ViewerRequestEvent {
    response: FunctionResponse;
  }

  const cf: {
    /** Sends the request to another origin of the same distribution, with the same cache behavior and policies. */
    selectRequestOriginById(originId: string): void;
  };
  export default cf;
}
