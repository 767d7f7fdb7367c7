import { methodsOf } from '../shared/contract/route.ts';
import { ApiError } from '../shared/errors.ts';
import { routeStack } from '../shared/stack/route-stack.ts';
import { ROUTES } from './routes.ts';

/** Answers all requests that no route takes: 405 with `Allow` when a route has the path with other methods, otherwise 404. */
export const handler = routeStack({ name: 'unknownRoute' }, [], async ({ event }) => {
  const methods = methodsAt(event.path);
  if (methods.length === 0) throw new ApiError('not_found', { detail: 'the API has no such path' });
  const Allow = methods.join(', ');
  throw new ApiError('method_not_allowed', { headers: { Allow }, detail: `the path takes only ${Allow}` });
});

function methodsAt(path: string): string[] {
  return Object.values(ROUTES).flatMap((route) => (pattern(route.path).test(path) ? methodsOf(route) : []));
}

/** The paths of a route: `{id}` stands for any segment. */
function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
