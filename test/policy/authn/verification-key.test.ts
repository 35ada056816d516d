import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { isSignedBy, secretKeyOf, verificationKeyOf } from '../../../src/policy/authn/verification-key.ts'
import { createKey, signToken } from '../../support/token-issuer.ts'

const NOW = Math.floor(Date.now() / 1000)
const signed = async (compact: string, alg: string) => ({ compact, alg, nowSeconds: NOW, skewSeconds: 30 })

t.test('a public key verifies the algorithms of its type', async (t) => {
  const all = ['RS256', 'RS512', 'PS256', 'PS384', 'ES256', 'ES384', 'ES512', 'EdDSA', 'HS256', 'none']
  const serves = async (alg: string) => {
    const { jwk } = await createKey('k', alg)
    const { alg: _, ...any } = jwk
    const key = verificationKeyOf(any)
    return all.filter((one) => key?.fits(one) === true)
  }
  t.same(await serves('RS256'), ['RS256', 'RS512', 'PS256', 'PS384'])
  t.same(await serves('ES256'), ['ES256'])
  t.same(await serves('ES512'), ['ES512'])
  t.same(await serves('EdDSA'), ['EdDSA'])
  const { jwk } = await createKey('k', 'RS256')
  t.equal(verificationKeyOf(jwk)?.fits('PS256'), false, 'its own alg binds it')
  t.equal(verificationKeyOf({ ...(await createKey('k', 'EdDSA')).jwk, alg: 'Ed25519' })?.fits('EdDSA'), true)
})

t.test('a signature verifies only with the key that made it', async (t) => {
  for (const alg of ['RS256', 'PS512', 'ES384', 'EdDSA', 'Ed25519']) {
    const key = await createKey('k', alg)
    const other = await createKey('k', alg)
    const token = await signToken(key, {})
    const [own, foreign] = [verificationKeyOf(key.jwk), verificationKeyOf(other.jwk)]
    if (own === null || foreign === null) throw new Error(alg)
    t.equal(await isSignedBy(own, await signed(token, alg)), true, alg)
    t.equal(await isSignedBy(foreign, await signed(token, alg)), false, alg)
    t.equal(await isSignedBy(own, await signed(token, 'HS256')), false, alg)
  }
})

const rsa = (bits: number, exponent = 65_537) =>
  createPublicKey(
    generateKeyPairSync('rsa', { modulusLength: bits, publicExponent: exponent }).privateKey,
  ).export({ format: 'jwk' })

t.test('a key that is weak, costly, secret or for another use is ignored', async (t) => {
  const { jwk } = await createKey('k', 'RS256')
  const e = (bytes: readonly number[]) => ({ ...jwk, e: Buffer.from(bytes).toString('base64url') })
  const none: Readonly<Record<string, unknown>> = {
    'no object': 'key',
    symmetric: { kty: 'oct', k: 'AAAA' },
    '1024 bits': rsa(1024),
    'zeros before': {
      ...jwk,
      n: Buffer.concat([Buffer.alloc(200), Buffer.alloc(100, 255)]).toString('base64url'),
    },
    '8,200 bits': { ...jwk, n: Buffer.alloc(1025, 255).toString('base64url') },
    'exponent 1': e([1]),
    'no exponent': e([]),
    'exponent 0': e([0, 0]),
    'a long exponent': e([255, 255, 255, 255, 255]),
    private: { ...jwk, d: 'AAAA' },
    'for encryption': { ...jwk, use: 'enc' },
    'for wrapping': { ...jwk, key_ops: ['wrapKey'] },
    'another curve': { kty: 'EC', crv: 'secp256k1', x: 'AAAA', y: 'AAAA' },
    'a kid that is no text': { ...jwk, kid: 1 },
    'a long kid': { ...jwk, kid: 'k'.repeat(257) },
  }
  for (const [what, one] of Object.entries(none)) t.equal(verificationKeyOf(one), null, what)
  t.ok(verificationKeyOf({ ...jwk, key_ops: ['verify'], use: undefined }))
  t.ok(verificationKeyOf(rsa(2048, 3)))
})

t.test('a key that cannot be imported verifies nothing', async (t) => {
  const { jwk } = await createKey('k', 'ES256')
  const broken = verificationKeyOf({ ...jwk, x: jwk.y, y: jwk.y })
  if (broken === null) throw new Error('no key')
  const token = await signToken(await createKey('k', 'ES256'), {})
  t.equal(await isSignedBy(broken, await signed(token, 'ES256')), false)
})

const servedBy = (bytes: number) =>
  ['HS256', 'HS384', 'HS512', 'RS256', 'none'].filter((alg) => secretKeyOf(Buffer.alloc(bytes, 7)).fits(alg))

t.test('a secret verifies the algorithms that it is long enough for', async (t) => {
  t.same(servedBy(31), [])
  t.same(servedBy(32), ['HS256'])
  t.same(servedBy(48), ['HS256', 'HS384'])
  t.same(servedBy(64), ['HS256', 'HS384', 'HS512'])
})
