import { Socket } from 'node:net'
import t from 'tap'
import { createClientAddress } from '../../src/request/client-address.ts'
import { cpuMs } from '../support/cpu-time.ts'

const PROXIES = ['10.0.0.0/8', '192.0.2.7', '2001:db8:1::/48']

interface Said {
  readonly list?: string
  readonly forwarded?: string
}

function addressOf(peer: string, { list, forwarded }: Said, proxies: readonly string[] = PROXIES): string {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: peer })
  const headers = {
    ...(list === undefined ? {} : { 'x-forwarded-for': list }),
    ...(forwarded === undefined ? {} : { forwarded }),
  }
  return createClientAddress(proxies)({ socket, headers })
}

t.test(
  'forwarding headers are ignored without trusted proxies, and from other peers than these',
  async (t) => {
    const said = { list: '203.0.113.9', forwarded: 'for=203.0.113.9' }
    t.equal(addressOf('10.0.0.1', said, []), '10.0.0.1')
    t.equal(addressOf('198.51.100.1', said), '198.51.100.1')
    t.equal(addressOf('::ffff:198.51.100.1', said), '198.51.100.1')
    t.equal(addressOf('10.0.0.1', {}), '10.0.0.1')
  },
)

t.test('the last hop that is not a trusted proxy is the client', async (t) => {
  const cases: readonly (readonly [list: string, client: string])[] = [
    ['203.0.113.9', '203.0.113.9'],
    ['1.1.1.1, 203.0.113.9', '203.0.113.9'],
    ['1.1.1.1,203.0.113.9,10.9.9.9', '203.0.113.9'],
    ['203.0.113.9 , 192.0.2.7, 2001:db8:1::5', '203.0.113.9'],
    ['203.0.113.9:51234', '203.0.113.9'],
    ['[2001:DB8::1]:443', '2001:db8::1'],
    ['2001:db8:0:0::1', '2001:db8::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['fe80::1%eth0', 'fe80::1'],
    ['10.0.0.5', '10.0.0.5'],
    // A mapped address of a trusted network belongs to this network.
    ['203.0.113.9, ::ffff:10.0.0.5', '203.0.113.9'],
  ]
  for (const [list, client] of cases) t.equal(addressOf('10.0.0.1', { list }), client, list)
  t.equal(addressOf('::ffff:10.0.0.1', { list: '203.0.113.9' }), '203.0.113.9', 'a mapped peer')
  t.equal(addressOf('2001:db8:1::1', { list: '203.0.113.9' }), '203.0.113.9', 'a peer of IPv6')
})

t.test('a malformed header leaves the nearest address that is known', async (t) => {
  const cases: readonly (readonly [list: string, client: string])[] = [
    ['', '10.0.0.1'],
    ['unknown', '10.0.0.1'],
    ['203.0.113.9, garbage', '10.0.0.1'],
    ['203.0.113.9, ', '10.0.0.1'],
    ['garbage, 10.0.0.2', '10.0.0.2'],
    ['garbage, 203.0.113.9', '203.0.113.9'],
    ['203.0.113.256', '10.0.0.1'],
    ['0203.0.113.9', '10.0.0.1'],
    ['203.0.113.9\\n', '10.0.0.1'],
    ['[203.0.113.9]', '203.0.113.9'],
    ['[::1', '10.0.0.1'],
  ]
  for (const [list, client] of cases) t.equal(addressOf('10.0.0.1', { list }), client, JSON.stringify(list))
})

t.test('Forwarded names the client in its own form', async (t) => {
  const cases: readonly (readonly [forwarded: string, client: string])[] = [
    ['for=203.0.113.9', '203.0.113.9'],
    ['For="203.0.113.9:51234";proto=https;by=10.0.0.1', '203.0.113.9'],
    ['proto=https;for="[2001:db8::1]:443"', '2001:db8::1'],
    ['for=1.1.1.1, for=203.0.113.9, for=10.0.0.2', '203.0.113.9'],
    ['for="1.1.1.1, for=2.2.2.2", for=203.0.113.9', '203.0.113.9'],
    ['for="203.0.113.9:_port"', '203.0.113.9'],
    ['for=203.0.113.9, for=unknown', '10.0.0.1'],
    ['for=203.0.113.9, for=_hidden, for=10.0.0.2', '10.0.0.2'],
    ['for=203.0.113.9, proto=https', '10.0.0.1'],
    // The unclosed quote of the client includes the value that the proxy appended.
    ['for=", for=203.0.113.9', '10.0.0.1'],
    ['for=1.1.1.1;for=203.0.113.9', '10.0.0.1'],
    ['for=203.0.113.9 for=1.1.1.1', '10.0.0.1'],
    [';;,', '10.0.0.1'],
  ]
  for (const [forwarded, client] of cases) t.equal(addressOf('10.0.0.1', { forwarded }), client, forwarded)
})

t.test('if both headers are present and differ, both are ignored', async (t) => {
  t.equal(addressOf('10.0.0.1', { list: '203.0.113.9', forwarded: 'for=203.0.113.9' }), '203.0.113.9')
  t.equal(addressOf('10.0.0.1', { list: '203.0.113.9', forwarded: 'for=1.1.1.1' }), '10.0.0.1')
})

t.test('only a part of a very long list is read', async (t) => {
  const list = `203.0.113.9, ${'10.0.0.2, '.repeat(5000)}10.0.0.3`
  const start = cpuMs()
  t.equal(addressOf('10.0.0.1', { list }), '10.0.0.2')
  t.equal(addressOf('10.0.0.1', { forwarded: `for="${'\\\\'.repeat(8000)}` }), '10.0.0.1')
  t.ok(cpuMs() - start < 500)
})
