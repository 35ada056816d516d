import { type CryptoKey, importJWK, jwtVerify } from 'jose'
import { isObject, stringIn } from '../../request/value.ts'
import { SECRET_BYTES } from '../../config/shared-secret.ts'

/** A key that verifies signatures. */
export interface VerificationKey {
  /** The content of the key, which is equal for equal keys. */
  readonly id: string
  /** The key id, or null if the key has none. */
  readonly kid: string | null
  readonly fits: (alg: string) => boolean
  /** Resolves to the key for one algorithm. The result is cached. @throws Error if the key is not valid for the algorithm */
  readonly forAlgorithm: (alg: string) => Promise<CryptoKey | Uint8Array>
}

/** The key type and the curve of each algorithm: RFC 7518 section 3.1, RFC 8037 and RFC 9864. */
const KEY_OF_ALGORITHM: Readonly<Record<string, string>> = {
  RS256: 'RSA',
  RS384: 'RSA',
  RS512: 'RSA',
  PS256: 'RSA',
  PS384: 'RSA',
  PS512: 'RSA',
  ES256: 'EC P-256',
  ES384: 'EC P-384',
  ES512: 'EC P-521',
  EdDSA: 'OKP Ed25519',
  Ed25519: 'OKP Ed25519',
}
const KINDS: ReadonlySet<string> = new Set(Object.values(KEY_OF_ALGORITHM))

/** The size of an RSA modulus. RFC 7518 section 3.3 requires at least 2048 bits. The time of a verification grows with the square of the size. */
const RSA_BYTES = { least: 256, most: 1024 } as const
/** The size of the public exponent. 65537 has three bytes. A long exponent makes a verification as expensive as a signature. */
const MAX_EXPONENT_BYTES = 4
const MAX_KID_CHARS = 256

/** Returns the public key in a JWK, or null if it does not verify signatures of supported algorithms. Members that are not needed are dropped. */
export function verificationKeyOf(jwk: unknown): VerificationKey | null {
  if (!isObject(jwk) || !isForSignatures(jwk)) return null
  const { kid } = jwk
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > MAX_KID_CHARS)) return null
  const kty = stringIn(jwk, 'kty')
  const alg = stringIn(jwk, 'alg')
  const kind = kty === 'RSA' ? kty : `${kty} ${stringIn(jwk, 'crv')}`
  if (!KINDS.has(kind) || (kty === 'RSA' && !isSoundRsa(jwk))) return null
  const material = Object.fromEntries(
    ['kty', 'crv', 'n', 'e', 'x', 'y'].flatMap((name) => {
      const value = stringIn(jwk, name)
      return value === null ? [] : [[name, value]]
    }),
  )
  return {
    id: JSON.stringify([kid, alg, material]),
    kid: kid ?? null,
    fits: (wanted) => KEY_OF_ALGORITHM[wanted] === kind && (alg === null || isSameAlgorithm(alg, wanted)),
    forAlgorithm: createImports((wanted) => importJWK(material, wanted)),
  }
}

function createImports<T>(load: (alg: string) => Promise<T>): (alg: string) => Promise<T> {
  const imported = new Map<string, Promise<T>>() // bounded: one entry for each algorithm that fits
  return (alg) => {
    const key = imported.get(alg) ?? load(alg)
    imported.set(alg, key)
    return key
  }
}

/** Returns true for the same algorithm. `EdDSA` and `Ed25519` are the same here (RFC 9864). */
function isSameAlgorithm(one: string, other: string): boolean {
  return one === other || [one, other].every((name) => name === 'EdDSA' || name === 'Ed25519')
}

/** Returns true if a key may verify signatures. A key with its private part is refused, because anyone could use a published private key. */
function isForSignatures({ use, key_ops: operations, d }: Readonly<Record<string, unknown>>): boolean {
  if (d !== undefined || (use !== undefined && use !== 'sig')) return false
  return operations === undefined || (Array.isArray(operations) && operations.includes('verify'))
}

function isSoundRsa(jwk: Readonly<Record<string, unknown>>): boolean {
  const n = numberIn(jwk, 'n')
  const e = numberIn(jwk, 'e')
  if (n.length < RSA_BYTES.least || n.length > RSA_BYTES.most) return false
  // With the exponent 1, a signature would be equal to the signed value.
  return e.length > 0 && e.length <= MAX_EXPONENT_BYTES && e.readUIntBE(0, e.length) >= 3
}

/** Returns the bytes of an unsigned number without leading zeros. */
function numberIn(jwk: Readonly<Record<string, unknown>>, name: string): Buffer {
  const bytes = Buffer.from(stringIn(jwk, name) ?? '', 'base64url')
  const first = bytes.findIndex((byte) => byte !== 0)
  return first < 0 ? Buffer.alloc(0) : bytes.subarray(first)
}

const LEAST_BYTES: Readonly<Record<string, number>> = SECRET_BYTES

/** Returns the verification key for a shared secret. */
export function secretKeyOf(secret: Buffer): VerificationKey {
  return {
    id: 'secret',
    kid: null,
    fits: (alg) => secret.length >= (LEAST_BYTES[alg] ?? Number.POSITIVE_INFINITY),
    forAlgorithm: async () => new Uint8Array(secret),
  }
}

/** Returns true if a key verifies the signature of a token. Web Crypto does this outside the main thread. Claims are checked before. */
export async function isSignedBy(key: VerificationKey, token: SignedToken): Promise<boolean> {
  const { compact, alg, nowSeconds, skewSeconds } = token
  try {
    await jwtVerify(compact, await key.forAlgorithm(alg), {
      algorithms: [alg],
      clockTolerance: skewSeconds,
      currentDate: new Date(nowSeconds * 1000),
      requiredClaims: ['exp'],
    })
    return true
  } catch {
    // Every error of the library counts as a refusal, because only a verified token is accepted.
    return false
  }
}

export interface SignedToken {
  readonly compact: string
  readonly alg: string
  readonly nowSeconds: number
  readonly skewSeconds: number
}
