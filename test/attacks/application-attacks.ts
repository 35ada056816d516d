import { authorizationOf } from '../support/open-gateway.ts'

/** A hostile request to a prefix without credentials, and the status that it must get. */
export interface ApplicationAttack {
  readonly hope: string
  readonly target: string
  readonly status: number
}

/** `/app` requires credentials, and `/open` does not. */
export const APPLICATION_ATTACKS: readonly ApplicationAttack[] = [
  { hope: 'a prefix that only begins like another', target: '/appx', status: 404 },
  { hope: 'a parent of an open prefix', target: '/open/../app/x', status: 400 },
  { hope: 'an encoded parent of an open prefix', target: '/open/%2e%2e/app/x', status: 400 },
  { hope: 'a matrix parameter of an open prefix', target: '/open;/x', status: 400 },
  { hope: 'an encoded matrix parameter before a parent', target: '/open%3b/../app', status: 400 },
  { hope: 'a prefix in other case', target: '/APP/x', status: 404 },
  { hope: 'an empty segment before the prefix of another application', target: '/open//app', status: 400 },
  { hope: 'a NUL behind an open prefix', target: '/open%00/x', status: 400 },
  { hope: 'backslashes as separators', target: '/open/%5c..%5capp', status: 400 },
  { hope: 'an absolute target', target: 'http://127.0.0.1/open/x', status: 400 },
  { hope: 'the prefix without a path', target: '/app', status: 401 },
  { hope: 'an open prefix in the query', target: '/app?x=/open/', status: 401 },
]

/** A request whose body is followed by a second request for a prefix that requires credentials. */
export const SECOND_REQUEST =
  `POST /open/x HTTP/1.1\r\nHost: g\r\nAuthorization: ${authorizationOf('demo')}\r\nContent-Length: 3\r\n\r\n` +
  'abcGET /app/y HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n'
