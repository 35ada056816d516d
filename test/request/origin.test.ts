import t from 'tap'
import { isCrossOriginRequest } from '../../src/request/origin.ts'

const ALLOWED = new Set(['https://app.example:8443'])

type Case = readonly [method: string, host: string, site: string | null, origin: string | null]

function isForeign([method, host, site, origin]: Case): boolean {
  const headers = {
    host,
    ...(site === null ? {} : { 'sec-fetch-site': site }),
    ...(origin === null ? {} : { origin }),
  }
  return isCrossOriginRequest({ method, headers }, host, ALLOWED)
}

const OWN: readonly Case[] = [
  ['POST', 'gw:8080', null, null],
  ['POST', 'gw:8080', 'same-origin', 'http://gw:8080'],
  ['PUT', 'gw:8080', null, 'http://gw:8080'],
  ['POST', 'gw:8080', 'none', null],
  // A proxy terminates TLS.
  ['POST', 'gw.example', 'same-origin', 'https://gw.example'],
  ['POST', 'gw.example:443', null, 'https://gw.example'],
  ['POST', 'gw.example:80', null, 'http://gw.example'],
  ['POST', 'GW.example', null, 'http://gw.example'],
  ['DELETE', '[::1]:8080', null, 'http://[::1]:8080'],
  // A page with `Referrer-Policy: no-referrer` sends this: test/processes/browser/credentials.test.ts.
  ['POST', 'gw', 'same-origin', 'null'],
  // The origin is listed.
  ['POST', 'gw', 'cross-site', 'https://app.example:8443'],
]

const FOREIGN: readonly Case[] = [
  ['POST', 'gw:8080', 'same-site', 'http://gw:9999'],
  ['POST', 'gw', 'cross-site', null],
  ['POST', 'gw', 'same-site', null],
  ['POST', 'gw', '', null],
  ['POST', 'gw', 'same-origin, cross-site', null],
  ['POST', 'gw', 'Same-Origin', null],
  ['PUT', 'gw', null, 'http://evil.example'],
  ['DELETE', 'gw', null, 'null'],
  ['POST', 'gw', 'none', 'null'],
  ['POST', 'gw', 'same-origin', 'http://evil.example'],
  ['POST', 'gw', null, ''],
  ['POST', 'gw', null, 'gw'],
  ['POST', 'gw', null, 'http://gw:81'],
  ['POST', 'gw:443', null, 'http://gw'],
  ['POST', 'gw', null, 'http://gw.evil.example'],
  ['POST', 'gw', null, 'http://gw, http://evil.example'],
  ['POST', 'gw', null, 'http://gw@evil.example'],
  ['POST', 'gw', null, 'http://evil.example/gw'],
  ['POST', 'gw', null, 'chrome-extension://gw'],
  ['PATCH', 'gw', 'cross-site', null],
  ['TRACE', 'gw', 'cross-site', null],
  ['POST', 'gw', 'cross-site', 'https://app.example'],
]

t.test(
  'requests of the gateway’s own pages, and of clients that are not browsers, are not cross-origin',
  async (t) => {
    for (const one of OWN) t.equal(isForeign(one), false, one.join(' '))
  },
)

t.test('a request of a page of another origin is cross-origin, unless it is a read', async (t) => {
  for (const one of FOREIGN) {
    t.equal(isForeign(one), true, one.join(' '))
    const [, ...rest] = one
    for (const method of ['GET', 'HEAD', 'OPTIONS']) t.equal(isForeign([method, ...rest]), false, method)
  }
})
