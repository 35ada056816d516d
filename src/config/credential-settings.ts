import { z } from 'zod'
import { SECRET_BYTES, secretBytesOf, sharedSecret } from './shared-secret.ts'
import { time } from './values.ts'

export const account = z.strictObject({
  username: z.string().min(1, 'must not be empty').describe('The user id.'),
  password: z.string().describe('The password. Use `${file:…}` to keep it out of this file.'),
})

const LEAST_LIFETIME_MS = 10_000
const LONGEST_LIFETIME_MS = 3_600_000

const signature = z
  .strictObject({
    secret: sharedSecret.describe(
      'The secret with which the engine verifies the signature. Use `${file:…}` to keep it out of this file. ' +
        'Danger: a client that knows the secret can act as any user.',
    ),
    algorithm: z
      .enum(['HS256', 'HS384', 'HS512'])
      .default('HS256')
      .describe(
        'The signature algorithm. The secret must be at least as long as the digest: 32, 48 or 64 bytes.',
      ),
    lifetime: time(LEAST_LIFETIME_MS)
      .refine((ms) => ms <= LONGEST_LIFETIME_MS, 'must be at most 1h')
      .meta({ title: 'duration from 10s to 1h' })
      .default(60_000)
      .describe('How long a token is valid. The gateway replaces a token after half of this time.'),
  })
  .refine(({ secret, algorithm }) => secretBytesOf(secret) >= SECRET_BYTES[algorithm], {
    path: ['secret'],
    error: 'must not be shorter than the digest of the algorithm',
  })

const userHeader = z
  .strictObject({
    header: z
      .string()
      .regex(
        /^(?:context-user-id|authorization|x-[a-z\d-]*user[a-z\d-]*)$/i,
        'must be Context-User-ID, Authorization, or a name that begins with X- and contains `user`',
      )
      .meta({ title: '`Context-User-ID`, `Authorization` or like `X-User`' })
      .transform((name) => name.toLowerCase())
      .describe(
        "The name of the header that contains the caller's user id. If the client sends this header, the gateway removes it. " +
          'Danger: without `sign`, an engine that trusts this header trusts every client that reaches its nodes.',
      ),
    sign: signature
      .optional()
      .describe(
        'Sends a signed JSON Web Token with the user id as `sub`. In the header `Authorization`, the token is sent as `Bearer`. ' +
          'If absent, the header contains the plain user id.',
      ),
  })
  .refine(({ header, sign }) => header !== 'authorization' || sign !== undefined, {
    path: ['header'],
    error: 'Authorization requires sign: an unsigned id is not a credential',
  })

/** The credentials that an engine receives instead of the caller's. */
export const credentials = z
  .union(
    [z.enum(['none', 'forward']), account, userHeader],
    'none, forward, { username, password } or { header, sign } is needed',
  )
  .meta({ title: '`none`, `forward`, `{ username, password }` or `{ header, sign }`' })
