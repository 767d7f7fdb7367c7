/**
 * The runtime of CloudFront Functions, as far as the service uses it: the event a `handler` gets and the `cloudfront`
 * module. Source: CloudFront Developer Guide, "CloudFront Functions event structure" and "Helper methods for origin
 * modification".
 */
declare module 'cloudfront' {
  /** One header, cookie or query parameter; `multiValue` is there only when the name came more than once. */
  export interface Value {
    value: string;
    multiValue?: { value: string }[];
  }

  /** As {@link Value}; `attributes` is what follows the first `;` of a `Set-Cookie`. */
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
    /** By lower-case name, without `Cookie`. */
    headers: Record<string, Value>;
    cookies: Record<string, Value>;
  }

  export interface FunctionResponse {
    statusCode: number;
    statusDescription?: string;
    /** By lower-case name, without `Set-Cookie`. */
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
    /** Sends the request to another origin of the same distribution; cache behavior and policies stay as they are. */
    selectRequestOriginById(originId: string): void;
  };
  export default cf;
}
