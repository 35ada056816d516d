import { TLSSocket } from 'node:tls'
import t from 'tap'
import { alternativeNamesIn, createCertificateUser } from '../../src/request/client-certificate.ts'
import type { ClientCertificates } from '../../src/config/tls-types.ts'

t.test('alternative names are read in the form in which Node.js writes them', (t) => {
  t.same(alternativeNamesIn('DNS:a.example, email:m@a.example, URI:spiffe://corp/billing'), [
    ['DNS', 'a.example'],
    ['email', 'm@a.example'],
    ['URI', 'spiffe://corp/billing'],
  ])
  t.same(alternativeNamesIn('IP Address:127.0.0.1'), [['IP Address', '127.0.0.1']])
  t.same(alternativeNamesIn(''), [])
  t.end()
})

t.test('a name that contains the syntax of names is one name', (t) => {
  t.same(alternativeNamesIn('DNS:"good.example, DNS:evil.example"'), [
    ['DNS', 'good.example, DNS:evil.example'],
  ])
  t.same(alternativeNamesIn('URI:"a\\"b", DNS:c'), [
    ['URI', 'a"b'],
    ['DNS', 'c'],
  ])
  t.end()
})

t.test('a malformed list of names contains no name after the fault', (t) => {
  for (const text of ['DNS:"open', 'DNS:a,DNS:b', ':x', 'DNS:a, ', 'DNS:a"b'])
    t.same(
      alternativeNamesIn(text).filter(([, name]) => name !== 'a'),
      [],
      text,
    )
  t.end()
})

const ENDS = 'Jan  1 00:00:00 2030 GMT'

/** Returns a connection whose client has presented a certificate. */
function socketWith(
  subjectaltname: string,
  CN: string | readonly string[] = 'mary',
  authorized = true,
): TLSSocket {
  const certificate = { subject: { CN }, subjectaltname, valid_to: ENDS }
  const socket: TLSSocket = Object.create(TLSSocket.prototype)
  return Object.defineProperties(socket, {
    authorized: { value: authorized },
    getPeerCertificate: { value: () => certificate },
  })
}

const userBy = (own: Partial<ClientCertificates>, socket: TLSSocket, at = '2029-12-31T23:59:59Z') =>
  createCertificateUser({ ca: 'ca', required: false, user: 'uri', ...own }, () => Date.parse(at))(socket)

t.test('the user is the only name of the configured kind', (t) => {
  const names = 'DNS:host, URI:spiffe://corp/billing, email:m@corp'
  t.equal(userBy({}, socketWith(names)), 'spiffe://corp/billing')
  t.equal(userBy({ user: 'dns' }, socketWith(names)), 'host')
  t.equal(userBy({ user: 'email' }, socketWith(names)), 'm@corp')
  t.equal(userBy({ user: 'commonName' }, socketWith(names)), 'mary')
  t.equal(userBy({ user: null }, socketWith(names)), null)
  t.equal(userBy({}, socketWith('URI:a, URI:b')), null, 'which of two is meant cannot be told')
  t.equal(userBy({ user: 'commonName' }, socketWith('', ['mary', 'demo'])), null)
  t.equal(userBy({}, socketWith('DNS:host')), null)
  t.equal(userBy({}, socketWith(names, 'mary', false)), null, 'nobody has signed it')
  for (const odd of ['', 'a'.repeat(256), '"a\\u0000b"', '"\\x"'])
    t.equal(userBy({}, socketWith(`URI:${odd}`)), null, odd.slice(0, 9))
  t.end()
})

t.test('the configuration maps names to users, and no other name is a user', (t) => {
  const users = { 'spiffe://corp/billing': 'billing' }
  t.equal(userBy({ users }, socketWith('URI:spiffe://corp/billing')), 'billing')
  const others = [
    'spiffe://corp/other',
    'spiffe://corp/billing?x=1',
    'spiffe://corp/billing#x',
    'spiffe://corp/BILLING',
    'spiffe://corp/%62illing',
    'constructor',
    '__proto__',
  ]
  for (const other of others) t.equal(userBy({ users }, socketWith(`URI:${other}`)), null, other)
  t.end()
})

t.test('a certificate that expires while its connection is open no longer names a user', (t) => {
  let at = '2029-12-31T23:59:59Z'
  const userOf = createCertificateUser({ ca: 'ca', required: true, user: 'uri' }, () => Date.parse(at))
  const socket = socketWith('URI:billing')
  t.equal(userOf(socket), 'billing')
  at = '2030-01-01T00:00:01Z'
  t.equal(userOf(socket), null)
  t.end()
})
