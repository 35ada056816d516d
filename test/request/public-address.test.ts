import type { IncomingHttpHeaders } from 'node:http'
import t, { type Test } from 'tap'
import { createPublicAddress } from '../../src/request/public-address.ts'
import { writeCertificates } from '../support/certificates.ts'
import { loadSettings, settingsWith } from '../support/config-file.ts'

/** Returns the addresses that a configuration gives to requests of a proxy in 10.0.0.0/8, and to other requests. */
function addressesOf(t: Test, settings: Readonly<Record<string, unknown>>) {
  const addressOf = createPublicAddress(loadSettings(t, settingsWith(settings)))
  const ask = (remoteAddress: string) => (headers: IncomingHttpHeaders) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the address of a socket is read
    addressOf({ headers: { host: 'gw:8080', ...headers }, socket: { remoteAddress } as never })
  return { proxied: ask('10.0.0.1'), direct: ask('192.0.2.1') }
}

const BOTH = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'api.example' }
const trustedProxies = ['10.0.0.0/8']

t.test('a configured address is that of every request', (t) => {
  const { proxied, direct } = addressesOf(t, {
    listen: { publicUrl: 'https://api.example/x/', trustedProxies },
  })
  t.same([proxied(BOTH), direct({}), direct(BOTH)], Array(3).fill('https://api.example/x'))
  t.end()
})

t.test('without proxies and TLS only the Host header determines the address', (t) => {
  const { proxied } = addressesOf(t, {})
  t.same([proxied({}), proxied(BOTH)], [null, null])
  t.end()
})

t.test('a trusted proxy is believed if it sends one value for each header', (t) => {
  const { proxied, direct } = addressesOf(t, { listen: { trustedProxies } })
  t.equal(proxied(BOTH), 'https://api.example')
  t.equal(proxied({ 'x-forwarded-proto': 'https' }), 'https://gw:8080')
  t.equal(proxied({ 'x-forwarded-host': 'api.example' }), 'http://api.example')
  t.equal(proxied({ 'x-forwarded-proto': 'https, http' }), 'http://gw:8080')
  t.equal(proxied({ ...BOTH, 'x-forwarded-host': 'a, b' }), 'https://gw:8080')
  t.equal(proxied({ ...BOTH, 'x-forwarded-host': 'a/../b' }), 'https://gw:8080')
  t.same([proxied({}), direct(BOTH)], [null, null])
  t.end()
})

t.test('a forwarded host that is not served is ignored', (t) => {
  const { proxied } = addressesOf(t, { hosts: ['API.example', 'gw:8080'], listen: { trustedProxies } })
  t.equal(proxied(BOTH), 'https://api.example')
  t.equal(proxied({ ...BOTH, 'x-forwarded-host': 'other.example' }), 'https://gw:8080')
  t.end()
})

t.test('a listener with TLS has an https address, unless a proxy names another scheme', (t) => {
  const files = writeCertificates(t)
  const tls = { cert: files['server.crt'], key: files['server.key'] }
  const { proxied, direct } = addressesOf(t, { listen: { tls, trustedProxies } })
  t.same([direct({}), direct(BOTH), proxied({})], Array(3).fill('https://gw:8080'))
  t.equal(proxied({ 'x-forwarded-host': 'api.example' }), 'https://api.example')
  t.equal(proxied({ 'x-forwarded-proto': 'http' }), 'http://gw:8080')
  t.equal(addressesOf(t, { listen: { tls } }).direct({}), 'https://gw:8080')
  t.end()
})
