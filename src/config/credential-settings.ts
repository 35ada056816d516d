import { z } from 'zod'
import { SECRET_BYTES, secretBytesOf, sharedSecret } from './shared-secret.ts'
import { time } from './values.ts'

export const account = z.strictObject({
  username: z.string().min(1, 'must not be empty').describe('The user id.'),
  password: z.string().describe('The password, best as `${file:…}`.'),
})

const LEAST_LIFETIME_MS = 10_000
const LONGEST_LIFETIME_MS = 3_600_000

const signature = z
  .strictObject({
    secret: sharedSecret.describe(
      'What the engine verifies the signature with, best as `${file:…}`. Danger: whoever knows it can be every user.',
    ),
    algorithm: z
      .enum(['HS256', 'HS384', 'HS512'])
      .default('HS256')
      .describe('It needs a secret as long as its digest: 32, 48 or 64 bytes.'),
    lifetime: time(LEAST_LIFETIME_MS)
      .refine((ms) => ms <= LONGEST_LIFETIME_MS, 'must be at most 1h')
      .meta({ title: 'duration from 10s to 1h' })
      .default(60_000)
      .describe('How long a token holds. One is used for half of that.'),
  })
  .refine(({ secret, algorithm }) => secretBytesOf(secret) >= SECRET_BYTES[algorithm], {
    path: ['secret'],
    error: 'is shorter than the digest of the algorithm',
  })

const userHeader = z
  .strictObject({
    header: z
      .string()
      .regex(
        /^(?:context-user-id|authorization|x-[a-z\d-]*user[a-z\d-]*)$/i,
        'must be Context-User-ID, Authorization, or a name that begins with X- and has `user` in it',
      )
      .meta({ title: '`Context-User-ID`, `Authorization` or like `X-User`' })
      .transform((name) => name.toLowerCase())
      .describe(
        'The header that names the caller. What callers send of it does not pass. Danger: without `sign` an engine that believes it believes it from everybody who reaches its nodes.',
      ),
    sign: signature
      .optional()
      .describe(
        'The header is a JSON Web Token with the user as `sub`, as `Bearer` where it is `Authorization`. Without it: the id as it is.',
      ),
  })
  .refine(({ header, sign }) => header !== 'authorization' || sign !== undefined, {
    path: ['header'],
    error: 'Authorization needs sign: an id is no credential',
  })

/** The credentials that an engine receives instead of the caller's. */
export const credentials = z
  .union(
    [z.enum(['none', 'forward']), account, userHeader],
    'none, forward, { username, password } or { header, sign } is needed',
  )
  .meta({ title: '`none`, `forward`, `{ username, password }` or `{ header, sign }`' })
