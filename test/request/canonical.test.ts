import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { canonicalOf } from '../../src/request/canonical.ts'

const SERVED = { hosts: new Set<string>(), allowedOrigins: new Set<string>() }

/** Returns a request as Node.js has parsed it. */
function requestTo(url: string, headers: Readonly<Record<string, string>> = { host: 'gateway' }) {
  const request = new IncomingMessage(new Socket())
  request.method = 'GET'
  request.httpVersion = '1.1'
  request.url = url
  for (const [name, value] of Object.entries(headers)) {
    request.rawHeaders.push(name, value)
    request.headers[name.toLowerCase()] = value
  }
  return request
}

const faultOf = (url: string) => canonicalOf(requestTo(url), SERVED).fault

t.test('an escape in a path that an engine decodes again, refuses or ignores is refused', (t) => {
  for (const escape of [
    '%2f',
    '%2F',
    '%5c',
    '%5C',
    '%3b',
    '%3B',
    '%00',
    '%0a',
    '%1F',
    '%7f',
    '%7F',
    '%252F',
    '%25ff',
  ])
    t.equal(faultOf(`/engine-rest/user/a${escape}b/profile`), 'GW_BAD_TARGET', escape)
  for (const escape of ['%20', '%25', '%25zz', '%7E', '%C3%A9', '%41'])
    t.equal(faultOf(`/engine-rest/user/a${escape}b/profile`), null, escape)
  t.equal(faultOf('/engine-rest/task?name=a%2Fb%7F'), null, 'not in a query')
  t.end()
})

t.test('a path with dot segments or empty segments is refused, plain or escaped', (t) => {
  for (const path of [
    '/a/../b',
    '/a/./b',
    '/a/%2e%2e/b',
    '/a/%2E/b',
    '/..',
    '/a/..',
    '//a',
    '/a//b',
    '/a//',
    '',
  ])
    t.equal(faultOf(path), 'GW_BAD_TARGET', path)
  for (const path of ['/', '/a', '/a/', '/a/..b', '/a/b..', '/a/.b', '/a/...'])
    t.equal(faultOf(path), null, path)
  t.end()
})

t.test(
  'a trailing slash is removed, and a percent sign in a query string that begins no escape is encoded',
  (t) => {
    for (const [url, to] of [
      ['/a/', '/a'],
      ['/a/?b=c', '/a?b=c'],
      ['/', '/'],
      ['/a?n=%Rev%', '/a?n=%25Rev%25'],
      ['/a?n=%41', '/a?n=%41'],
    ] as const)
      t.equal(canonicalOf(requestTo(url), SERVED).url, to)
    for (const query of ['%ff', 'a"b', 'a b', 'a#b'])
      t.equal(faultOf(`/a?n=${query}`), 'GW_BAD_TARGET', query)
    t.end()
  },
)

function fault(headers: Readonly<Record<string, string>>, hosts: readonly string[] = []) {
  return canonicalOf(requestTo('/a', headers), { ...SERVED, hosts: new Set(hosts) }).fault
}

t.test('a request needs one host, at most one credential and a known expectation', (t) => {
  t.equal(fault({}), 'GW_BAD_HOST')
  t.equal(fault({ host: 'a b' }), 'GW_BAD_HOST')
  t.equal(fault({ host: 'a', HOST: 'a' }), 'GW_BAD_HOST')
  t.equal(fault({ host: 'Gateway' }, ['gateway']), null)
  t.equal(fault({ host: 'other' }, ['gateway']), 'GW_BAD_HOST')
  t.equal(fault({ host: 'a', authorization: 'Basic a', Authorization: 'Basic b' }), 'GW_BAD_HEADER')
  t.equal(fault({ host: 'a', authorization: 'Basic a' }), null)
  t.equal(fault({ host: 'a', expect: '100-Continue' }), null)
  t.equal(fault({ host: 'a', expect: '200-ok' }), 'GW_EXPECTATION')
  const many = (count: number) =>
    fault({
      host: 'a',
      ...Object.fromEntries(Array.from({ length: count - 1 }, (_, index) => [`x-${index}`, ''])),
    })
  t.equal(many(128), null)
  t.equal(many(129), 'GW_HEADERS_TOO_LARGE')
  t.end()
})
